/* JSON: values and their places, what is refused and how, the writer's round trip, text that ends or changes anywhere.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check.h"

/* Parses a copy that ends where the text ends, so that a sanitizer sees every read beyond. */
static ds_status parse(ds_json_doc *doc, char **copy, const char *text, size_t length, ds_error *error) {
  *copy = malloc(length ? length : 1);
  memcpy(*copy, text, length);
  return ds_json_parse(doc, *copy, length, "t.json", error);
}

static void test_values(void) {
  const char *text =
      "\xEF\xBB\xBF// head\n{\"a\": [1, -2.5e-3, 0], /* in between */ \"b\": {\"c\": "
      "\"x\\n\\u00e9\\ud83d\\ude00\\\"\"},\n"
      "  \"d\": true, \"e\": false, \"f\": null, \"g\": [], \"h\": {} } // end";
  ds_json_doc doc;
  char *copy;
  ds_error error = {""};
  CHECK(parse(&doc, &copy, text, strlen(text), &error) == DS_OK);
  CHECK(doc.root && doc.root->kind == DS_JSON_OBJECT && doc.root->count == 7);
  const ds_json *a = ds_json_find(doc.root, "a");
  CHECK(a && a->count == 3);
  CHECK_NEAR(a->first->next->number, -2.5e-3, 0);
  const ds_json *c = ds_json_find(ds_json_find(doc.root, "b"), "c");
  CHECK(c && strcmp(c->string, "x\n\xC3\xA9\xF0\x9F\x98\x80\"") == 0);
  int32_t line, column;
  const ds_json *d = ds_json_find(doc.root, "d");
  ds_json_locate(&line, &column, doc.text, d->start);
  CHECK(d->boolean && line == 3 && column == 8);
  ds_json_locate(&line, &column, doc.text, d->key_start);
  CHECK(line == 3 && column == 3);
  CHECK(!ds_json_find(doc.root, "e")->boolean && ds_json_find(doc.root, "f")->kind == DS_JSON_NULL);
  CHECK(ds_json_find(doc.root, "g")->count == 0 && ds_json_find(doc.root, "h")->first == NULL);
  CHECK(ds_json_find(doc.root, "i") == NULL && ds_json_find(a, "a") == NULL);
  ds_json_free(&doc);
  free(copy);
}

typedef struct bad {
  const char *text, *message; /* how the message starts, behind the file's name */
} bad;

static const bad bad_texts[] = {
    {"", "1:1: the text is empty"},
    {"  // only a comment", "1:1: the text is empty"},
    {"{", "1:2: the end of the text where a key"},
    {"[1, 2", "1:1: the \"[\" here is never closed"},
    {"{\"a\": 1,\n \"b\": [1}", "2:9: \"}\" after an element; expected \",\" or \"]\""},
    {"{\"a\": 1 \"b\": 2}", "1:9: \"\"\" after a member; expected \",\" or \"}\""},
    {"[1, 2,]", "1:7: a comma before \"]\""},
    {"{\"a\": 1,}", "1:9: a comma before \"}\""},
    {"{a: 1}", "1:2: \"a\" where a key should start"},
    {"{'a': 1}", "1:2: single quotes"},
    {"['a']", "1:2: single quotes"},
    {"{\"a\" 1}", "1:6: \"1\" after key \"a\"; expected \":\""},
    {"{\"a\":1, \"b\":2,\n\"a\":3}", "2:1: key \"a\" is given twice, first on line 1"},
    {"{\"\\u0061\":1, \"a\":2}", "1:14: key \"a\" is given twice"},
    {"[1] 2", "1:5: \"2\" after the end"},
    {"[NaN]", "1:2: \"NaN\" is not a finite number"},
    {"[Infinity]", "1:2: \"Infinity\" is not a finite number"},
    {"[-Infinity]", "1:2: \"Infinity\" is not a finite number"},
    {"[inf]", "1:2: \"inf\" is not a finite number"},
    {"[1e999]", "1:2: \"1e999\" is too large"},
    {"[-1e999]", "1:2: \"-1e999\" is too large"},
    {"[01]", "1:2: a number with a leading zero"},
    {"[-]", "1:2: \"-\" without a digit"},
    {"[1.]", "1:2: a number that ends with its point"},
    {"[.5]", "1:2: a number cannot start with \".\""},
    {"[+5]", "1:2: a number cannot start with \"+\""},
    {"[1e]", "1:2: an exponent without digits"},
    {"[1e+]", "1:2: an exponent without digits"},
    {"[0x10]", "1:2: \"x10\" right behind a number"},
    {"[1.2.3]", "1:2: \".\" right behind a number"},
    {"[tru]", "1:2: unexpected word \"tru\""},
    {"[\"abc]", "1:2: the string that starts here has no end"},
    {"[\"ab\nc\"]", "1:2: the string that starts here has no end"},
    {"[\"\\x\"]", "1:3: \"\\\" in a string"},
    {"[\"\\u12g4\"]", "1:7: \"\\u\" has to be followed"},
    {"[\"\\ud800\"]", "1:3: half of a surrogate pair"},
    {"[\"\\ud800\\u0041\"]", "1:3: half of a surrogate pair"},
    {"[\"\\udc00\"]", "1:3: half of a surrogate pair"},
    {"[\"\\u0000\"]", "1:3: \\u0000 in a string"},
    {"[1, /* never", "1:5: the comment that starts here has no end"},
    {"[1, /*/", "1:5: the comment that starts here has no end"},
    {"[1, / 2]", "1:5: a single \"/\""},
    {"[1;2]", "1:3: \";\" after an element"},
    {"[\xC3]", "1:2: byte 0xC3 is not UTF-8"},
    {"[\"\xC0\xAF\"]", "1:3: byte 0xC0 is not UTF-8"},
    {"[\"\xED\xA0\x80\"]", "1:3: byte 0xED is not UTF-8"},
    {"[\"\xF4\x90\x80\x80\"]", "1:3: byte 0xF4 is not UTF-8"},
    {"[\"\xC3\xA9\xC3\xA9\", x]", "1:8: unexpected word \"x\""},
    {"\xFF\xFE[\x01", "1:1: the text is UTF-16"},
    {"\x7F"
     "ELF\x02\x01",
     "1:5: control character 0x02"},
};

static void test_bad_texts(void) {
  for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
    const bad *b = &bad_texts[i];
    ds_json_doc doc;
    char *copy, wanted[256];
    ds_error error = {""};
    CHECK(parse(&doc, &copy, b->text, strlen(b->text), &error) == DS_ERROR_INPUT);
    CHECK(doc.root == NULL);
    snprintf(wanted, sizeof wanted, "t.json:%s", b->message);
    bool same = strncmp(error.message, wanted, strlen(wanted)) == 0;
    CHECK(same);
    if (!same) printf("  got    %s\n  wanted %s\n", error.message, wanted);
    free(copy);
  }
  ds_json_doc doc;
  ds_error error = {""};
  CHECK(ds_json_parse(&doc, "[\0]", 3, "t.json", &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "t.json:1:2: control character 0x00") == error.message);
  CHECK(ds_json_parse(&doc, "[", 1, "t.json", NULL) == DS_ERROR_INPUT);
}

static void test_limits(void) {
  ds_json_doc doc;
  ds_error error = {""};
  static char deep[400000], name[3000];
  memset(deep, '[', sizeof deep);
  CHECK(ds_json_parse(&doc, deep, sizeof deep, "t.json", &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "more than 64 brackets") != NULL);
  /* 64 levels are read */
  memset(deep + 64, ']', 64);
  CHECK(ds_json_parse(&doc, deep, 128, "t.json", &error) == DS_OK);
  ds_json_free(&doc);
  /* a message fits whatever the name of the file or the key is, and is cut between characters */
  for (size_t i = 0; i + 1 < sizeof name; i += 2) memcpy(name + i, "\xC3\xA9", 2);
  name[sizeof name - 2] = 0;
  CHECK(ds_json_parse(&doc, "[1 2]", 5, name, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, ":1:4: \"2\" after an element") != NULL);
  memset(deep, 'k', 5000);
  memcpy(deep, "{\"", 2);
  memcpy(deep + 5000, "\" 1}", 4);
  CHECK(ds_json_parse(&doc, deep, 5004, name, &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "expected \":\"") != NULL);
  /* many keys are compared through a table */
  size_t n = 0;
  deep[n++] = '{';
  for (int i = 0; i < 20000; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, "\"k%d\":1,", i);
  size_t before = n;
  n += (size_t)snprintf(deep + n, sizeof deep - n, "\"last\":1}");
  CHECK(ds_json_parse(&doc, deep, n, "t.json", &error) == DS_OK);
  CHECK(doc.root->count == 20001);
  ds_json_free(&doc);
  n = before + (size_t)snprintf(deep + before, sizeof deep - before, "\"k777\":1}");
  CHECK(ds_json_parse(&doc, deep, n, "t.json", &error) == DS_ERROR_INPUT);
  CHECK(strstr(error.message, "key \"k777\" is given twice, first on line 1") != NULL);
}

static bool same(const ds_json *a, const ds_json *b) {
  if (a->kind != b->kind || a->count != b->count || !a->key != !b->key) return false;
  if (a->key && strcmp(a->key, b->key) != 0) return false;
  if (a->kind == DS_JSON_NUMBER && memcmp(&a->number, &b->number, sizeof a->number) != 0) return false;
  if (a->kind == DS_JSON_BOOLEAN && a->boolean != b->boolean) return false;
  if (a->kind == DS_JSON_STRING && strcmp(a->string, b->string) != 0) return false;
  const ds_json *c = a->first, *d = b->first;
  for (; c && d; c = c->next, d = d->next)
    if (!same(c, d)) return false;
  return !c && !d;
}

static uint64_t next_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

static void test_write(void) {
  const char *text =
      "{\"numbers\":[0.1,1e300,-0,123456789,5e-324,0.30000000000000004],\"text\":\"a\\\"\\\\\\n\\u0001\xC3\xA9\","
      "\"empty\":[],"
      "\"none\":{},\"flag\":true,\"nil\":null,\"points\":[[0,0,0],[1,0,0],[0,1,0]],\"objects\":[{\"kind\":\"sphere\","
      "\"radius\":0.5},{\"kind\":\"hull\",\"points\":[[1,2,3]]}]}";
  const char *wanted =
      "{\n  \"numbers\": [0.1, 1e+300, -0, 123456789, 4.94065645841247e-324, 0.30000000000000004],\n"
      "  \"text\": \"a\\\"\\\\\\n\\u0001\xC3\xA9\",\n  \"empty\": [],\n  \"none\": {},\n  \"flag\": true,\n  \"nil\": "
      "null,\n"
      "  \"points\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],\n  \"objects\": [\n    {\"kind\": \"sphere\", \"radius\": "
      "0.5},\n"
      "    {\n      \"kind\": \"hull\",\n      \"points\": [[1, 2, 3]]\n    }\n  ]\n}";
  ds_json_doc a, b;
  ds_error error = {""};
  CHECK(ds_json_parse(&a, text, strlen(text), "t.json", &error) == DS_OK);
  char *written = ds_json_write(a.root, 0);
  CHECK(written && strcmp(written, wanted) == 0);
  if (strcmp(written, wanted) != 0) printf("%s\n", written);
  CHECK(ds_json_parse(&b, written, strlen(written), "t.json", &error) == DS_OK);
  CHECK(same(a.root, b.root));
  char *again = ds_json_write(b.root, 0);
  CHECK(strcmp(written, again) == 0);
  ds_json_free(&a);
  ds_json_free(&b);
  free(written);
  free(again);
  /* every double reads back, bit for bit */
  uint64_t seed = 88172645463325252u;
  int wrong = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next_random(&seed);
    double x, y;
    char number[32];
    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x)) continue;
    ds_json_write_number(number, x);
    y = strtod(number, NULL);
    wrong += memcmp(&x, &y, sizeof x) != 0;
  }
  CHECK_NEAR(wrong, 0, 0);
}

/* Numbers have a point in every locale. */
static void test_locale(void) {
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  for (int i = 0; i < 4; i++)
    if (setlocale(LC_ALL, names[i])) break;
  ds_json_doc doc;
  CHECK(ds_json_parse(&doc, "[0.5]", 5, "t.json", NULL) == DS_OK);
  CHECK_NEAR(doc.root->first->number, 0.5, 0);
  char *written = ds_json_write(doc.root, 0);
  CHECK(strcmp(written, "[0.5]") == 0);
  free(written);
  ds_json_free(&doc);
  setlocale(LC_ALL, "C");
}

/* Cut anywhere or with bytes changed: an error or a value, never a crash. */
static void test_mutations(void) {
  const char *text =
      "/*c*/{\"a\": [1, -2.5e-3], \"s\": \"x\\u00e9\\ud83d\\ude00\xC3\xA9\", \"t\": [true, null, {\"k\": []}]}";
  size_t length = strlen(text);
  uint64_t seed = 42;
  int accepted = 0, silent = 0;
  for (size_t n = 0; n < length; n++) {
    ds_json_doc doc;
    char *copy;
    ds_error error = {""};
    accepted += parse(&doc, &copy, text, n, &error) == DS_OK;
    silent += error.message[0] == 0;
    free(copy);
  }
  CHECK_NEAR(accepted, 0, 0);
  CHECK_NEAR(silent, 0, 0);
  silent = 0;
  for (int i = 0; i < 40000; i++) {
    char changed[256], *copy;
    ds_json_doc doc;
    ds_error error = {""};
    memcpy(changed, text, length);
    for (uint64_t k = next_random(&seed) % 3 + 1; k > 0; k--) {
      size_t at = next_random(&seed) % length;
      changed[at] = i % 2 ? (char)next_random(&seed) : "{}[]\",:\\u/*-+.e019tfn "[next_random(&seed) % 23];
    }
    if (parse(&doc, &copy, changed, length, &error) == DS_OK)
      ds_json_free(&doc);
    else
      silent += error.message[0] == 0;
    free(copy);
  }
  CHECK_NEAR(silent, 0, 0);
}

int main(void) {
  RUN(test_values);
  RUN(test_bad_texts);
  RUN(test_limits);
  RUN(test_write);
  RUN(test_locale);
  RUN(test_mutations);
  return test_summary();
}
