/* A small JSON reader for the drivers of the rivals: text to a tree of values, with // and block comments skipped.
 *
 * Recursive descent; an error throws std::runtime_error with the line. Escapes other than \u are decoded, \u is kept as
 * it stands, for the drivers print no text of the scene. Depth is limited to 64. */
#ifndef DRYSTONE_BENCH_JSON_HPP
#define DRYSTONE_BENCH_JSON_HPP

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct Json {
  enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
  double number = 0;
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json> fields;

  const Json *find(const std::string &key) const {
    auto it = fields.find(key);
    return it == fields.end() ? nullptr : &it->second;
  }
  double get(const std::string &key, double initial) const {
    const Json *value = find(key);
    if (!value) return initial;
    if (value->kind != Number) throw std::runtime_error("\"" + key + "\" is not a number");
    return value->number;
  }
  std::string get(const std::string &key, const char *initial) const {
    const Json *value = find(key);
    if (!value) return initial;
    if (value->kind != String) throw std::runtime_error("\"" + key + "\" is not a string");
    return value->text;
  }
};

class JsonReader {
 public:
  explicit JsonReader(const std::string &text) : text_(text) {}
  Json read() {
    Json value = readValue(0);
    skip();
    if (at_ != text_.size()) fail("nothing more");
    return value;
  }

 private:
  const std::string &text_;
  size_t at_ = 0;

  [[noreturn]] void fail(const std::string &expected) const {
    size_t line = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); i++) line += text_[i] == '\n';
    throw std::runtime_error("line " + std::to_string(line) + ": expected " + expected);
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool starts(const char *word) const { return text_.compare(at_, std::char_traits<char>::length(word), word) == 0; }
  bool take(const char *word) {
    skip();
    if (!starts(word)) return false;
    at_ += std::char_traits<char>::length(word);
    return true;
  }
  void need(const char *word) {
    if (!take(word)) fail(word);
  }
  void skip() {
    for (;;) {
      while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) at_++;
      if (starts("//")) {
        while (at_ < text_.size() && peek() != '\n') at_++;
      } else if (starts("/*")) {
        size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) fail("*/");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }
  Json readValue(int depth) {
    if (depth > 64) fail("fewer than 64 levels");
    skip();
    Json value;
    if (peek() == '{') return readObject(depth);
    if (peek() == '[') return readArray(depth);
    if (peek() == '"') {
      value.kind = Json::String;
      value.text = readString();
    } else if (take("true")) {
      value.kind = Json::Bool;
      value.number = 1;
    } else if (take("false")) {
      value.kind = Json::Bool;
    } else if (take("null")) {
      value.kind = Json::Null;
    } else {
      char *end = nullptr;
      value.kind = Json::Number;
      value.number = std::strtod(text_.c_str() + at_, &end);
      size_t used = static_cast<size_t>(end - (text_.c_str() + at_));
      if (used == 0) fail("a value");
      at_ += used;
    }
    return value;
  }
  Json readObject(int depth) {
    Json value;
    value.kind = Json::Object;
    need("{");
    if (take("}")) return value;
    do {
      skip();
      std::string key = readString();
      need(":");
      value.fields[key] = readValue(depth + 1);
    } while (take(","));
    need("}");
    return value;
  }
  Json readArray(int depth) {
    Json value;
    value.kind = Json::Array;
    need("[");
    if (take("]")) return value;
    do {
      value.items.push_back(readValue(depth + 1));
    } while (take(","));
    need("]");
    return value;
  }
  std::string readString() {
    if (peek() != '"') fail("a string");
    std::string out;
    for (at_++; peek() != '"'; at_++) {
      if (at_ >= text_.size()) fail("the end of a string");
      if (peek() != '\\') {
        out += peek();
        continue;
      }
      at_++;
      const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
      const char *found = nullptr;
      for (const char *c = from; *c; c++)
        if (*c == peek()) found = c;
      out += found ? to[found - from] : peek();
    }
    at_++;
    return out;
  }
};

#endif
