/* Chromium without a window: see browser.h. It draws in software, so that a film is the same with any graphics. */
#include "browser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool browser_find(char *path, size_t size, ds_error *error) {
  static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
  const char *given = getenv("DRYSTONE_BROWSER");
  if (given != NULL && given[0] != '\0') {
    if (strchr(given, '/') != NULL && access(given, X_OK) == 0 && strlen(given) < size)
      return snprintf(path, size, "%s", given) > 0;
    if (process_find(path, size, given)) return true;
    snprintf(error->message, sizeof error->message, "DRYSTONE_BROWSER: there is no program '%.200s'", given);
    return false;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (process_find(path, size, names[i])) return true;
  snprintf(
      error->message, sizeof error->message,
      "Chromium, which renders films, was not found; install it (Debian: apt-get install chromium), or name one in "
      "DRYSTONE_BROWSER. 'drystone draw' makes single images without it");
  return false;
}

static bool make_profile(browser *b, ds_error *error) {
  const char *folder = getenv("TMPDIR");
  if (folder == NULL || folder[0] == '\0' || strlen(folder) > 3000) folder = "/tmp";
  snprintf(b->profile, sizeof b->profile, "%s/drystone-film-XXXXXX", folder);
  if (mkdtemp(b->profile) != NULL) return true;
  snprintf(error->message, sizeof error->message, "%.200s: cannot create a folder there: %s; set TMPDIR", folder,
           strerror(errno));
  b->profile[0] = '\0';
  return false;
}

bool browser_open(browser *b, const char *path, const char *url, int32_t width, int32_t height, ds_error *error) {
  char profile[sizeof b->profile + 32], size[64];
  *b = (browser){0};
  if (!make_profile(b, error)) return false;
  snprintf(profile, sizeof profile, "--user-data-dir=%s", b->profile);
  snprintf(size, sizeof size, "--window-size=%d,%d", (int)width, (int)height);
  const char *arguments[] = {path,
                             "--headless=new",
                             "--use-angle=swiftshader",
                             "--enable-unsafe-swiftshader",
                             "--force-device-scale-factor=1",
                             "--no-first-run",
                             "--no-default-browser-check",
                             "--disable-background-networking",
                             "--disable-component-update",
                             "--disable-default-apps",
                             "--disable-extensions",
                             "--disable-sync",
                             "--disable-dev-shm-usage",
                             "--disable-renderer-backgrounding",
                             "--disable-background-timer-throttling",
                             "--mute-audio",
                             profile,
                             size,
                             geteuid() == 0 ? "--no-sandbox" : "--disable-breakpad",
                             url,
                             NULL};
  b->process = process_start(path, arguments, NULL, false);
  if (b->process > 0) return true;
  snprintf(error->message, sizeof error->message, "%.200s: cannot be started: %s", path, strerror(errno));
  browser_close(b);
  return false;
}

void browser_close(browser *b) {
  process_kill(b->process);
  if (b->profile[0] != '\0') remove_folder(b->profile);
  *b = (browser){0};
}
