/*
 * gshare.hpp - gshare.h for C++11 and later: handles that end with their scope, errors as
 * exceptions, memory and launches with types.
 *
 *     gshare::session s;
 *     gshare::module m = gshare::module::from_file(s, "scale.ptx");
 *     gshare::kernel scale = m.kernel("scale");
 *     gshare::buffer<float> x(s, n);
 *     x.upload(host.data(), n);
 *     scale.launch({n / 256}, {256}, x, a);
 *     x.download(host.data(), n);
 *
 * Header only; a program links libgshare as a C program does. Every member calls the function of
 * gshare.h that its comment names, or whose name it has, and gshare.h says what the call does,
 * which statuses it has, when it blocks, and that any thread may make it at any time. What has no
 * member here is called as in C, with get().
 *
 * ERRORS. A status other than GS_OK is thrown as gshare::error. Destructors and moves throw
 * nothing and ignore statuses; close() ends an object and tells.
 *
 * OWNERSHIP. session, module, stream, event, graph, buffer and host_block own one object of the
 * library each. They can be moved and not copied; a moved-from object holds nothing, and calls on
 * it throw GS_ERR_INVALID_HANDLE or GS_ERR_INVALID_POINTER. The session ends all that was made in
 * it: objects that outlive the session are harmless, and their calls throw GS_ERR_INVALID_HANDLE.
 * The session object itself may be moved while others use its session.
 *
 * THREADS. Calls on one object from several threads are safe as far as the library's are: all but
 * moving, closing and destroying the C++ object, which no other thread may use meanwhile.
 */
#ifndef GSHARE_HPP
#define GSHARE_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gshare.h"

namespace gshare
{

/* ---- Errors ---------------------------------------------------------------------------------- */

/* what() is the status's name and the message, "GS_ERR_QUOTA: ...". */
class error : public std::runtime_error
{
  public:
    error(gs_status status, const std::string &message)
        : std::runtime_error(std::string(gs_status_name(status)) + ": " + message), status_(status)
    {
    }
    gs_status status() const noexcept { return status_; }

  private:
    gs_status status_;
};

/* Throws the calling thread's last error unless the status is GS_OK. */
inline void check(gs_status status)
{
    if (status != GS_OK)
        throw error(status, gs_last_error_message());
}

/* Of a query: false is GS_NOT_READY. */
inline bool ready(gs_status status)
{
    if (status != GS_NOT_READY)
        check(status);
    return status == GS_OK;
}

/* ---- What owns a handle ---------------------------------------------------------------------- */

namespace detail
{

template <typename Handle, gs_status (*End)(Handle)> class owner
{
  public:
    owner(owner &&other) noexcept : handle_(other.release()) {}
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            end();
            handle_ = other.release();
        }
        return *this;
    }
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    ~owner() { end(); }
    /* The handle, which stays this object's; NULL of a moved-from object. */
    Handle get() const noexcept { return handle_; }
    /* Gives the handle up to the caller, who ends it. */
    Handle release() noexcept
    {
        Handle handle = handle_;

        handle_ = nullptr;
        return handle;
    }
    /* Ends the object as its destructor does, and throws if that fails. */
    void close()
    {
        if (handle_)
            check(End(handle_));
        handle_ = nullptr;
    }

  protected:
    explicit owner(Handle handle = nullptr) noexcept : handle_(handle) {}
    Handle handle_;

  private:
    void end() noexcept
    {
        if (handle_)
            (void)End(handle_);
    }
};

} // namespace detail

/* ---- Sessions -------------------------------------------------------------------------------- */

class stream;

/* A session with the server: gs_attach, and gs_detach at its end, which blocks for the device. */
class session : public detail::owner<gs_session, gs_detach>
{
  public:
    session() { check(gs_attach(nullptr, &handle_)); }
    explicit session(const gs_attach_params &params) { check(gs_attach(&params, &handle_)); }
    /* The default stream; the session has it always. */
    inline stream default_stream() const;
    /* gs_sync: blocks until the work of all streams is complete. */
    void sync() const { check(gs_sync(handle_)); }
    gs_session_desc info() const
    {
        gs_session_desc desc = GS_SESSION_DESC_INIT;

        check(gs_session_info(handle_, &desc));
        return desc;
    }
    gs_qos qos() const
    {
        gs_qos qos = GS_QOS_INIT;

        check(gs_get_qos(handle_, &qos));
        return qos;
    }
    void set_qos(const gs_qos &qos) const { check(gs_set_qos(handle_, &qos)); }
    gs_fault last_fault() const
    {
        gs_fault fault = GS_FAULT_INIT;

        check(gs_last_fault(handle_, &fault));
        return fault;
    }
    /* gs_launch_report: false while there is no report yet. */
    bool launch_report(gs_report_id id, gs_report &report) const
    {
        return ready(gs_launch_report(handle_, id, &report));
    }
    /* The same, but waits for timeout_ns at most. */
    bool launch_report_for(gs_report_id id, gs_report &report, std::uint64_t timeout_ns) const
    {
        return ready(gs_launch_report_for(handle_, id, &report, timeout_ns));
    }
};

/* ---- Streams, events, graphs ----------------------------------------------------------------- */

/* Work recorded by stream::record. Its end (gs_graph_destroy) lets launches run to their end. */
class graph : public detail::owner<gs_graph, gs_graph_destroy>
{
  public:
    /* gs_graph_launch: queues the whole graph. */
    inline void launch(const stream &on) const;

  private:
    friend class stream;
    graph() noexcept = default;
};

/* A point in a stream's work. Its end (gs_event_destroy) does not block. */
class event : public detail::owner<gs_event, gs_event_destroy>
{
  public:
    explicit event(const session &in) { check(gs_event_create(in.get(), &handle_)); }
    /* gs_event_record: captures what the stream was given so far. */
    inline void record(const stream &on) const;
    /* gs_event_sync: blocks until the captured work is complete. */
    void sync() const { check(gs_event_sync(handle_)); }
    /* gs_event_sync_for: whether it is complete within timeout_ns. */
    bool sync_for(std::uint64_t timeout_ns) const
    {
        return ready(gs_event_sync_for(handle_, timeout_ns));
    }
    bool query() const { return ready(gs_event_query(handle_)); }
    /* gs_event_fd: a descriptor for event loops, the caller's to close. */
    int fd() const
    {
        int made;

        check(gs_event_fd(handle_, &made));
        return made;
    }
    /* gs_event_elapsed: milliseconds of device time from start to this event; both are complete. */
    float elapsed_since(const event &start) const
    {
        float milliseconds;

        check(gs_event_elapsed(start.get(), handle_, &milliseconds));
        return milliseconds;
    }
};

/* A stream of its own; the end (gs_stream_destroy) blocks for its work. Of the default stream,
 * which session::default_stream gives, get() is NULL and the end does nothing. */
class stream : public detail::owner<gs_stream, gs_stream_destroy>
{
  public:
    explicit stream(const session &in) : session_(in.get())
    {
        check(gs_stream_create(session_, nullptr, &handle_));
    }
    stream(const session &in, const gs_qos &qos) : session_(in.get())
    {
        check(gs_stream_create(session_, &qos, &handle_));
    }
    stream(stream &&other) noexcept : owner(std::move(other)), session_(other.session_)
    {
        other.session_ = nullptr;
    }
    stream &operator=(stream &&other) noexcept
    {
        gs_session session = other.session_;

        owner::operator=(std::move(other));
        other.session_ = nullptr;
        session_ = session;
        return *this;
    }
    /* get() to queue work with: NULL of a moved-from stream would mean the default stream. */
    gs_stream target() const
    {
        if (!session_)
            throw error(GS_ERR_INVALID_HANDLE, "the stream object was moved from");
        return handle_;
    }
    void sync() const { check(gs_stream_sync(session_, target())); }
    /* gs_stream_sync_for: whether all is complete within timeout_ns. */
    bool sync_for(std::uint64_t timeout_ns) const
    {
        return ready(gs_stream_sync_for(session_, target(), timeout_ns));
    }
    bool query() const { return ready(gs_stream_query(session_, target())); }
    /* gs_stream_wait_event: later work of the stream waits, on the device, for the event. */
    void wait(const event &captured) const
    {
        check(gs_stream_wait_event(target(), captured.get()));
    }
    /* Records the calls that `work`, a function without arguments, makes on the stream, between
     * gs_graph_begin and gs_graph_end; blocks for the server. What `work` throws drops the
     * recording. */
    template <typename Work> graph record(Work &&work) const
    {
        graph made;

        check(gs_graph_begin(session_, target()));
        try {
            work();
        } catch (...) {
            (void)gs_graph_end(session_, handle_, &made.handle_);
            throw;
        }
        check(gs_graph_end(session_, handle_, &made.handle_));
        return made;
    }

  private:
    friend class session;
    struct the_default {
    };
    stream(gs_session in, the_default) noexcept : session_(in) {}
    gs_session session_;
};

inline stream session::default_stream() const
{
    return stream(handle_, stream::the_default());
}

inline void graph::launch(const stream &on) const
{
    check(gs_graph_launch(handle_, on.target()));
}

inline void event::record(const stream &on) const
{
    check(gs_event_record(handle_, on.target()));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

namespace detail
{

/* The bytes of so many elements, of `all` from `offset` on. */
template <typename T> std::size_t bytes_of(std::size_t count, std::size_t offset, std::size_t all)
{
    if (offset > all || count > all - offset)
        throw error(GS_ERR_INVALID_POINTER, std::to_string(count) + " elements from element " +
                                                std::to_string(offset) + " on, of " +
                                                std::to_string(all));
    return count * sizeof(T);
}

template <typename T> std::size_t bytes_of(std::size_t count)
{
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
        throw error(GS_ERR_INVALID_VALUE,
                    std::to_string(count) + " elements of " + std::to_string(sizeof(T)) + " bytes");
    return count * sizeof(T);
}

} // namespace detail

/* Zeroed device memory for `count` elements: gs_malloc, which blocks for the server, and gs_free.
 * Given to a launch, it is its address. Copies count elements; with a stream they are the _async
 * calls, else they use the default stream and block. */
template <typename T> class buffer
{
    static_assert(std::is_trivially_copyable<T>::value, "device memory holds trivial types");

  public:
    buffer(const session &in, std::size_t count) : session_(in.get()), count_(count), ptr_(0)
    {
        check(gs_malloc(session_, detail::bytes_of<T>(count), &ptr_));
    }
    buffer(buffer &&other) noexcept
        : session_(other.session_), count_(other.count_), ptr_(other.release())
    {
    }
    buffer &operator=(buffer &&other) noexcept
    {
        if (this != &other) {
            end();
            session_ = other.session_;
            count_ = other.count_;
            ptr_ = other.release();
        }
        return *this;
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer() { end(); }
    /* The address; 0 of a moved-from object. */
    gs_devptr get() const noexcept { return ptr_; }
    /* Gives the memory up to the caller, who frees it. */
    gs_devptr release() noexcept
    {
        gs_devptr ptr = ptr_;

        ptr_ = 0;
        count_ = 0;
        return ptr;
    }
    void close()
    {
        if (ptr_)
            check(gs_free(session_, ptr_));
        release();
    }
    /* Elements. */
    std::size_t size() const noexcept { return count_; }

    void upload(const T *from, std::size_t count, std::size_t offset = 0) const
    {
        std::size_t bytes = detail::bytes_of<T>(count, offset, count_);

        check(gs_memcpy_htod(session_, at(offset), from, bytes));
    }
    void download(T *to, std::size_t count, std::size_t offset = 0) const
    {
        std::size_t bytes = detail::bytes_of<T>(count, offset, count_);

        check(gs_memcpy_dtoh(session_, to, at(offset), bytes));
    }
    void upload(const stream &on, const T *from, std::size_t count, std::size_t offset = 0) const
    {
        std::size_t bytes = detail::bytes_of<T>(count, offset, count_);

        check(gs_memcpy_htod_async(session_, at(offset), from, bytes, on.target()));
    }
    void download(const stream &on, T *to, std::size_t count, std::size_t offset = 0) const
    {
        std::size_t bytes = detail::bytes_of<T>(count, offset, count_);

        check(gs_memcpy_dtoh_async(session_, to, at(offset), bytes, on.target()));
    }
    void upload(const std::vector<T> &from) const { upload(from.data(), from.size()); }
    std::vector<T> download() const
    {
        std::vector<T> to(count_);

        download(to.data(), count_);
        return to;
    }
    /* gs_memcpy_dtod_async of the whole other buffer to this one's begin. */
    void copy(const stream &on, const buffer &from) const
    {
        std::size_t bytes = detail::bytes_of<T>(from.count_, 0, count_);

        check(gs_memcpy_dtod_async(session_, ptr_, from.ptr_, bytes, on.target()));
    }
    /* gs_memset: each byte of the buffer becomes the low 8 bits of value. */
    void fill(int value) const { check(gs_memset(session_, ptr_, value, count_ * sizeof(T))); }
    void fill(const stream &on, int value) const
    {
        check(gs_memset_async(session_, ptr_, value, count_ * sizeof(T), on.target()));
    }

  private:
    gs_devptr at(std::size_t offset) const noexcept { return ptr_ + offset * sizeof(T); }
    void end() noexcept
    {
        if (ptr_)
            (void)gs_free(session_, ptr_);
    }
    gs_session session_;
    std::size_t count_;
    gs_devptr ptr_;
};

/* Zeroed host memory that the device reads and writes directly: gs_host_alloc, which blocks for
 * the server, and gs_host_free, which blocks for the device. */
template <typename T> class host_block
{
    static_assert(std::is_trivially_copyable<T>::value, "the device copies bytes");

  public:
    host_block(const session &in, std::size_t count) : session_(in.get()), count_(count)
    {
        void *memory;

        check(gs_host_alloc(session_, detail::bytes_of<T>(count), &memory));
        data_ = static_cast<T *>(memory);
    }
    host_block(host_block &&other) noexcept
        : session_(other.session_), count_(other.count_), data_(other.release())
    {
    }
    host_block &operator=(host_block &&other) noexcept
    {
        if (this != &other) {
            give_back();
            session_ = other.session_;
            count_ = other.count_;
            data_ = other.release();
        }
        return *this;
    }
    host_block(const host_block &) = delete;
    host_block &operator=(const host_block &) = delete;
    ~host_block() { give_back(); }
    /* Gives the memory up to the caller, who frees it. */
    T *release() noexcept
    {
        T *data = data_;

        data_ = nullptr;
        count_ = 0;
        return data;
    }
    void close()
    {
        if (data_)
            check(gs_host_free(session_, data_));
        release();
    }
    T *data() const noexcept { return data_; }
    /* Where kernels reach it: gs_host_device_ptr. */
    gs_devptr device() const
    {
        gs_devptr ptr;

        check(gs_host_device_ptr(session_, data_, &ptr));
        return ptr;
    }
    std::size_t size() const noexcept { return count_; }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + count_; }
    T &operator[](std::size_t i) const noexcept { return data_[i]; }

  private:
    void give_back() noexcept
    {
        if (data_)
            (void)gs_host_free(session_, data_);
    }
    gs_session session_;
    std::size_t count_;
    T *data_;
};

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Up to three sizes of a grid or block, of any integral types. What does not fit becomes a size
 * that the launch refuses. */
struct dim3 : gs_dim3 {
    template <typename X, typename Y = unsigned, typename Z = unsigned,
              typename = typename std::enable_if<std::is_integral<X>::value &&
                                                 std::is_integral<Y>::value &&
                                                 std::is_integral<Z>::value>::type>
    dim3(X x_, Y y_ = 1, Z z_ = 1) noexcept
    {
        x = size_of(x_);
        y = size_of(y_);
        z = size_of(z_);
    }

  private:
    template <typename N> static unsigned size_of(N n) noexcept
    {
        if (n < N(1))
            return 0;
        if (static_cast<unsigned long long>(n) > std::numeric_limits<unsigned>::max())
            return std::numeric_limits<unsigned>::max();
        return static_cast<unsigned>(n);
    }
};

/* How a launch runs: gs_launch_config, and the stream. The stream, the qos and the report's id that
 * it names must live until the launch. */
class launch_config
{
  public:
    launch_config(dim3 grid, dim3 block) noexcept
    {
        config_.grid = grid;
        config_.block = block;
    }
    launch_config &on(const stream &stream)
    {
        stream_ = stream.target();
        return *this;
    }
    launch_config &dynamic_smem(unsigned bytes) noexcept
    {
        config_.dynamic_smem = bytes;
        return *this;
    }
    launch_config &qos(const gs_qos &qos) noexcept
    {
        config_.qos = &qos;
        return *this;
    }
    launch_config &report(gs_report_id &id) noexcept
    {
        config_.report = &id;
        return *this;
    }
    launch_config &cooperative() noexcept
    {
        config_.cooperative = 1;
        return *this;
    }
    launch_config &programmatic() noexcept
    {
        config_.programmatic = 1;
        return *this;
    }
    launch_config &cluster(unsigned x, unsigned y = 1, unsigned z = 1) noexcept
    {
        config_.cluster = {x, y, z};
        return *this;
    }

  private:
    friend class kernel;
    gs_launch_config config_ = GS_LAUNCH_CONFIG_INIT;
    gs_stream stream_ = nullptr;
};

namespace detail
{

template <typename T> const T &argument(const T &value) noexcept
{
    static_assert(!std::is_array<T>::value, "a kernel takes no array: give a buffer or a struct");
    static_assert(std::is_trivially_copyable<T>::value,
                  "a kernel's argument is copied byte by byte: its type must allow that");
    return value;
}
template <typename T> gs_devptr argument(const buffer<T> &value)
{
    if (!value.get())
        throw error(GS_ERR_INVALID_POINTER, "the buffer object was moved from");
    return value.get();
}
inline gs_devptr argument(std::nullptr_t) noexcept
{
    return 0;
}

} // namespace detail

/* A kernel of a module, which owns it: a value that can be copied, and that ends with the module.
 * A launch blocks only while its stream's ring is full. Its arguments are the kernel's parameters
 * in their order: a buffer stands for its address, everything else is copied byte by byte. Their
 * number and sizes must be the kernel's (GS_ERR_PARAMS); types are not known to the library. */
class kernel
{
  public:
    gs_kernel get() const noexcept { return handle_; }
    gs_kernel_desc info() const
    {
        gs_kernel_desc desc = GS_KERNEL_DESC_INIT;

        check(gs_kernel_info(handle_, &desc));
        return desc;
    }
    /* gs_kernel_occupancy: blocks that an SM runs at once. */
    unsigned occupancy(unsigned threads, unsigned dynamic_smem = 0) const
    {
        unsigned blocks;

        check(gs_kernel_occupancy(handle_, threads, dynamic_smem, &blocks));
        return blocks;
    }
    template <typename... Args>
    void launch(const launch_config &config, const Args &...arguments) const
    {
        queue(config, detail::argument(arguments)...);
    }
    /* On the default stream. */
    template <typename... Args> void launch(dim3 grid, dim3 block, const Args &...arguments) const
    {
        queue(launch_config(grid, block), detail::argument(arguments)...);
    }
    template <typename... Args>
    void launch(const stream &on, dim3 grid, dim3 block, const Args &...arguments) const
    {
        queue(launch_config(grid, block).on(on), detail::argument(arguments)...);
    }

  private:
    friend class module;
    kernel() noexcept : handle_(nullptr) {}
    template <typename... Values>
    void queue(const launch_config &how, const Values &...values) const
    {
        const void *pointers[] = {std::addressof(values)..., nullptr};
        const std::size_t sizes[] = {sizeof(Values)..., 0};
        gs_launch_config config = how.config_;

        config.arg_count = sizeof...(Values);
        config.arg_sizes = sizes;
        check(gs_launch(how.stream_, handle_, &config,
                        sizeof...(Values) ? const_cast<void **>(pointers) : nullptr));
    }
    gs_kernel handle_;
};

/* A loaded module: gs_module_load, which blocks for the server, and gs_module_unload, which lets
 * work given before use it to its end. */
class module : public detail::owner<gs_module, gs_module_unload>
{
  public:
    /* PTX text, a cubin or a fatbin of size bytes; 0: NUL-terminated PTX text. */
    module(const session &in, const void *image, std::size_t size = 0)
    {
        check(gs_module_load(in.get(), image, size, &handle_));
    }
    static module from_file(const session &in, const std::string &path)
    {
        gshare::module made;

        check(gs_module_load_file(in.get(), path.c_str(), &made.handle_));
        return made;
    }
    /* gs_module_link of images, each with its size; 0: NUL-terminated PTX text. */
    static module link(const session &in,
                       const std::vector<std::pair<const void *, std::size_t>> &images)
    {
        std::vector<const void *> addresses;
        std::vector<std::size_t> sizes;
        gshare::module made;

        for (const auto &image : images) {
            addresses.push_back(image.first);
            sizes.push_back(image.second);
        }
        check(gs_module_link(in.get(), addresses.data(), sizes.data(),
                             static_cast<unsigned>(images.size()), &made.handle_));
        return made;
    }
    /* gs_kernel_get, by the mangled name; blocks for the server at the first call for a name. */
    gshare::kernel kernel(const std::string &name) const
    {
        gshare::kernel found;

        check(gs_kernel_get(handle_, name.c_str(), &found.handle_));
        return found;
    }
    /* gs_module_kernel_name of each; blocks for the server. */
    std::vector<std::string> kernels() const
    {
        std::vector<std::string> names;
        char name[8192];
        unsigned count;

        check(gs_module_kernel_count(handle_, &count));
        for (unsigned i = 0; i < count; i++) {
            check(gs_module_kernel_name(handle_, i, name, sizeof(name)));
            names.push_back(name);
        }
        return names;
    }
    /* gs_global_get: address and bytes of a global variable; blocks for the server. */
    std::pair<gs_devptr, std::size_t> global(const std::string &name) const
    {
        std::pair<gs_devptr, std::size_t> found;

        check(gs_global_get(handle_, name.c_str(), &found.first, &found.second));
        return found;
    }

  private:
    module() noexcept = default;
};

} // namespace gshare
#endif /* GSHARE_HPP */
