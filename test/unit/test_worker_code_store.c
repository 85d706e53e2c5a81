/*
 * test_worker_code_store.c - machine code on disk: what is found is what was kept for this text,
 * device and driver, and nothing that is damaged, another's, or that another could have written;
 * and the directory does not grow without end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/module/code_file.h"
#include "worker/module/code_store.h"

#define MADE_FOR "a device, 9.0, a driver"
#define STRANGER 65534
#define USER     1000u

static char parent[] = "/tmp/gshare-test-store-XXXXXX", path[64];
static int directory = -1;
static char why[128];

static int set(void **state)
{
    (void)state;
    strcpy(parent + sizeof(parent) - 7, "XXXXXX");
    if (!mkdtemp(parent))
        return -1;
    snprintf(path, sizeof(path), "%s/cache/gshare", parent);
    directory = code_store_open(path, why, sizeof(why));
    return directory < 0;
}

static int unset(void **state)
{
    char command[96];

    (void)state;
    close(directory);
    snprintf(command, sizeof(command), "rm -rf %s", parent);
    return system(command);
}

static void put_for(uint32_t uid, const char *text, const char *code)
{
    char name[CODE_NAME_MAX];
    int file = code_file_make(MADE_FOR, text, strlen(text), code, strlen(code) + 1);

    assert_true(file >= 0);
    code_file_name(name, MADE_FOR, text, strlen(text));
    assert_true(code_store_is_name(name));
    assert_true(code_store_write(directory, name, file, uid));
    close(file);
}

static void put(const char *text, const char *code)
{
    put_for(USER, text, code);
}

/* What is kept under the name of one text, read for another one, or another driver. NULL: nothing
 * is found. */
static void read_as(const char *name_of, const char *made_for, const char *text, const char *wanted)
{
    char name[CODE_NAME_MAX];
    unsigned char *code = NULL;
    size_t size = 0;
    int file;

    code_file_name(name, MADE_FOR, name_of, strlen(name_of));
    file = code_store_read(directory, name, USER);
    if (file >= 0) {
        code = code_file_read(file, made_for, text, strlen(text), &size);
        close(file);
    }
    if (wanted) {
        assert_non_null(code);
        assert_int_equal(size, strlen(wanted) + 1);
        assert_string_equal(code, wanted);
    } else {
        assert_null(code);
    }
    free(code);
}

static void found(const char *text, const char *wanted)
{
    read_as(text, MADE_FOR, text, wanted);
}

/* Path of the text's file, in a static buffer. */
static const char *path_of(const char *text)
{
    static char file[64 + CODE_NAME_MAX];
    char name[CODE_NAME_MAX];

    code_file_name(name, MADE_FOR, text, strlen(text));
    snprintf(file, sizeof(file), "%s/%s", path, name);
    return file;
}

static unsigned files_count(void)
{
    DIR *names = opendir(path);
    unsigned count = 0;

    assert_non_null(names);
    while (readdir(names))
        count++;
    closedir(names);
    return count - 2;
}

static void what_was_kept_is_found_by_a_next_server(void **state)
{
    (void)state;
    found("one", NULL);
    put("one", "1");
    put("two, longer", "22");
    close(directory);
    directory = code_store_open(path, why, sizeof(why));
    found("one", "1");
    found("two, longer", "22");
    put("one", "11"); /* in place of the former */
    found("one", "11");
    assert_int_equal(files_count(), 2);
}

/* Two texts may have one name, and a file may have been given another name. */
static void what_is_for_another_text_or_driver_is_not_taken(void **state)
{
    (void)state;
    put("one", "1");
    read_as("one", MADE_FOR, "one", "1");
    read_as("one", MADE_FOR, "onf", NULL);
    read_as("one", MADE_FOR, "on", NULL);
    read_as("one", MADE_FOR, "ones", NULL);
    read_as("one", "a device, 9.0, b driver", "one", NULL);
    read_as("one", "a device, 9.0, a driver 2", "one", NULL);
}

/* Who uses the file, which stands behind its magic, is not what it is taken for. */
static bool is_of_use(off_t at)
{
    return at >= 8 && at < 8 + (off_t)sizeof(struct cache_share);
}

static void a_damaged_file_is_not_taken(void **state)
{
    struct stat status;

    (void)state;
    put("one", "1");
    assert_int_equal(stat(path_of("one"), &status), 0);
    for (off_t at = 0; at < status.st_size; at++) {
        unsigned char byte;
        int file = open(path_of("one"), O_RDWR | O_CLOEXEC);
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        found("one", is_of_use(at) ? "1" : NULL);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
    }
    found("one", "1");
}

static void a_file_that_was_cut_or_grew_is_not_taken(void **state)
{
    struct stat status;

    (void)state;
    put("one", "1");
    assert_int_equal(stat(path_of("one"), &status), 0);
    for (off_t size = 0; size < status.st_size; size++) {
        put("one", "1");
        assert_int_equal(truncate(path_of("one"), size), 0);
        found("one", NULL);
    }
    put("one", "1");
    assert_int_equal(truncate(path_of("one"), status.st_size + 1), 0);
    found("one", NULL);
    assert_int_equal(truncate(path_of("one"), (off_t)CODE_STORE_FILE + 1), 0);
    found("one", NULL);
}

static void a_file_that_others_could_have_written_is_not_taken(void **state)
{
    (void)state;
    put("one", "1");
    assert_int_equal(chmod(path_of("one"), 0620), 0);
    found("one", NULL);
    assert_int_equal(chmod(path_of("one"), 0602), 0);
    found("one", NULL);
    assert_int_equal(chmod(path_of("one"), 0600), 0);
    found("one", "1");
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path_of("one"), STRANGER, (gid_t)-1), 0);
    found("one", NULL);
}

static void what_is_no_file_is_not_taken(void **state)
{
    char elsewhere[64];

    (void)state;
    put("one", "1");
    snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", parent);
    assert_int_equal(rename(path_of("one"), elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path_of("one")), 0);
    found("one", NULL);
    put("one", "2"); /* in place of the link, and not where it leads */
    found("one", "2");
    assert_int_equal(unlink(path_of("one")), 0);
    assert_int_equal(mkfifo(path_of("one"), 0600), 0);
    found("one", NULL);
    assert_int_equal(unlink(path_of("one")), 0);
    assert_int_equal(mkdir(path_of("one"), 0700), 0);
    found("one", NULL);
}

static void a_directory_that_is_not_the_servers_alone_is_refused(void **state)
{
    char link[64];

    (void)state;
    snprintf(link, sizeof(link), "%s/link", parent);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(code_store_open(link, why, sizeof(why)), -1);
    for (mode_t mode = 0701; mode <= 0770; mode += mode == 0704 ? 4 : 1) {
        assert_int_equal(chmod(path, mode), 0);
        assert_int_equal(code_store_open(path, why, sizeof(why)), -1);
        assert_non_null(strstr(why, "chmod 700"));
    }
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(code_store_open("/dev/null", why, sizeof(why)), -1);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, STRANGER, (gid_t)-1), 0);
    assert_int_equal(code_store_open(path, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "belongs to uid 65534"));
    assert_int_equal(chown(path, 0, (gid_t)-1), 0);
}

static void no_name_leads_out_of_the_directory(void **state)
{
    (void)state;
    assert_true(code_store_is_name("0123456789abcdef0123456789abcdef"));
    assert_false(code_store_is_name("0123456789abcdef0123456789abcde"));
    assert_false(code_store_is_name("0123456789abcdef0123456789abcdef0"));
    assert_false(code_store_is_name("0123456789ABCDEF0123456789abcdef"));
    assert_false(code_store_is_name("../../../../../../../../etc/pass"));
    assert_false(code_store_is_name("."));
    assert_false(code_store_is_name(""));
}

/* Files count as CODE_STORE_LEAST each. */
static void put_many(uint32_t uid, const char *name, int count)
{
    char text[32];

    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%s %d", name, i);
        put_for(uid, text, "code");
    }
}

static void what_was_used_longest_ago_goes_first(void **state)
{
    (void)state;
    put_many(USER, "text", 10);
    code_store_trim(directory, 10 * CODE_STORE_LEAST);
    assert_int_equal(files_count(), 10);
    found("text 0", "code"); /* is used now */
    code_store_trim(directory, 8 * CODE_STORE_LEAST);
    assert_int_equal(files_count(), 6);
    found("text 0", "code");
    for (int i = 1; i < 10; i++) {
        char text[16];
        snprintf(text, sizeof(text), "text %d", i);
        found(text, i < 5 ? NULL : "code");
    }
    code_store_trim(directory, 0);
    assert_int_equal(files_count(), 0);
}

/* What two use stays while one of them has little. */
static void a_user_who_fills_the_store_drives_out_only_its_own(void **state)
{
    (void)state;
    put_for(USER + 1, "another's", "1");
    put_for(USER, "both", "2");
    put_for(USER + 1, "both", "2");
    found("both", "2"); /* for the one who fills */
    put_many(USER, "text", 30);
    code_store_trim(directory, 20 * CODE_STORE_LEAST);
    assert_int_equal(files_count(), 15);
    put_many(USER, "more", 30);
    code_store_trim(directory, 20 * CODE_STORE_LEAST);
    assert_int_equal(files_count(), 15);
    found("another's", "1");
    found("both", "2");
    found("text 29", NULL);
    found("more 29", "code");
    found("more 0", NULL);
}

/* As a version before leaves them, or an accident. They are nobody's. */
static void what_is_not_of_this_form_goes_first(void **state)
{
    int file;

    (void)state;
    put("one", "1");
    file = open(path_of("one"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, "%gscod02", 8, 0), 8);
    close(file);
    close(open(path_of("empty"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    put_many(USER, "text", 4);
    code_store_trim(directory, 5 * CODE_STORE_LEAST);
    assert_int_not_equal(access(path_of("one"), F_OK), 0);
    assert_int_not_equal(access(path_of("empty"), F_OK), 0);
    assert_int_equal(files_count(), 3);
}

static void what_was_left_half_written_goes(void **state)
{
    char half[2][96];
    const struct timespec long_ago[2] = {{1000000, 0}, {1000000, 0}};

    (void)state;
    put("one", "1");
    for (unsigned i = 0; i < 2; i++) {
        snprintf(half[i], sizeof(half[i]), "%s/half.%u", path, 4000000 + i);
        close(open(half[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    assert_int_equal(utimensat(AT_FDCWD, half[0], long_ago, 0), 0);
    code_store_trim(directory, 1 << 20);
    assert_int_not_equal(access(half[0], F_OK), 0);
    assert_int_equal(access(half[1], F_OK), 0); /* somebody may be writing it */
    found("one", "1");
}

static void a_disk_that_takes_nothing_leaves_what_was_there(void **state)
{
    int file = code_file_make(MADE_FOR, "one", 3, "22", 3), large;
    char name[CODE_NAME_MAX];

    (void)state;
    put("one", "1");
    code_file_name(name, MADE_FOR, "one", 3);
    large = memfd_create("large", MFD_CLOEXEC);
    assert_int_equal(ftruncate(large, (off_t)CODE_STORE_FILE + 1), 0);
    assert_false(code_store_write(directory, name, large, USER));
    assert_false(code_store_write(-1, name, file, USER));
    found("one", "1");
    assert_int_equal(files_count(), 1);
    close(large);
    close(file);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_was_kept_is_found_by_a_next_server),
        STORE_TEST(what_is_for_another_text_or_driver_is_not_taken),
        STORE_TEST(a_damaged_file_is_not_taken),
        STORE_TEST(a_file_that_was_cut_or_grew_is_not_taken),
        STORE_TEST(a_file_that_others_could_have_written_is_not_taken),
        STORE_TEST(what_is_no_file_is_not_taken),
        STORE_TEST(a_directory_that_is_not_the_servers_alone_is_refused),
        STORE_TEST(no_name_leads_out_of_the_directory),
        STORE_TEST(what_was_used_longest_ago_goes_first),
        STORE_TEST(a_user_who_fills_the_store_drives_out_only_its_own),
        STORE_TEST(what_is_not_of_this_form_goes_first),
        STORE_TEST(what_was_left_half_written_goes),
        STORE_TEST(a_disk_that_takes_nothing_leaves_what_was_there),
    };

    return cmocka_run_group_tests_name("code_store", tests, NULL, NULL);
}
