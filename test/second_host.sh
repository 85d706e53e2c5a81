# second_host.sh - a second host on this machine, for scripts that source it: namespaces with a network, IPC objects (message
# queues and segments) and a name of their own, and a link to the first. As root.
#
#   second_host_begin FOLDER    false, and why on standard error: there can be none; else:
#   inside COMMAND...           runs the command there
#   $host_net                   .1 is the first host there, .2 the second
#   FOLDER/first, FOLDER/second the message queues of each
#   second_host_end             also after a begin that failed
host= host_net=10.$((RANDOM % 100 + 100)).$((RANDOM % 250))
host_folder=

inside() { nsenter -t "$host" --net --uts --ipc "$@"; }

second_host_begin()
{
    local link=gs$$ end=$((SECONDS + 10))
    unshare --net --uts --ipc sleep 900 &
    host=$!
    # With its name it says that the namespaces are there.
    until [ "$(cat "/proc/$host/comm" 2>/dev/null)" = sleep ]; do
        [ $SECONDS -lt $end ] && kill -0 $host 2>/dev/null || { host=; return 1; }
    done
    ip link add "${link}a" type veth peer name "${link}b" || return 1
    ip link set "${link}b" netns "$host" && ip addr add "$host_net.1/24" dev "${link}a" && ip link set "${link}a" up &&
        inside hostname gshare-second && inside ip addr add "$host_net.2/24" dev "${link}b" &&
        inside ip link set "${link}b" up && inside ip link set lo up || return 1
    host_folder=$1
    mkdir "$1/first" "$1/second" && mount -t mqueue none "$1/first" && inside mount -t mqueue none "$1/second"
}

second_host_end()
{
    # The namespaces go with it, and the link with them.
    [ -z "$host" ] || kill "$host"
    [ -z "$host_folder" ] || umount "$host_folder/first" "$host_folder/second" 2>/dev/null
    return 0
}
