/* DS_CHECK: misuse by a programmer goes to a replaceable handler. Bad input from a user is never checked this way. */
#ifndef DS_BASE_CHECK_H
#define DS_BASE_CHECK_H

void ds_check_failed(const char *file, int line, const char *condition);
#define DS_CHECK(condition) ((condition) ? (void)0 : ds_check_failed(__FILE__, __LINE__, #condition))

#endif
