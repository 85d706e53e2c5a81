/* surplus.c - a library whose SURPLUS bytes must lie in static TLS. */
_Thread_local char surplus[SURPLUS] __attribute__((tls_model("initial-exec")));

char *surplus_address(void);

__attribute__((visibility("default"))) char *surplus_address(void)
{
    return surplus;
}
