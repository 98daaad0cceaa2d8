/* RFC 4648. */
#include "base64.h"

void base64_write(FILE *file, const unsigned char *data, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    unsigned left = size - i >= 3 ? 3 : (unsigned)(size - i);
    unsigned word =
        (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
    fputc(digits[word >> 18], file);
    fputc(digits[word >> 12 & 63], file);
    fputc(left > 1 ? digits[word >> 6 & 63] : '=', file);
    fputc(left > 2 ? digits[word & 63] : '=', file);
  }
}
