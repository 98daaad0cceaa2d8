#!/usr/bin/env bash
# drystone compare: its table, its page, methods that fail or take too long, and what it refuses.
. "$(dirname "$0")/shell.sh"

table=$("$program" compare card-pair --time 0.3 --methods coupled,two-pass,two-pass:cold,pgs:max_iterations=3 -o page.html -q)
[ $? -eq 0 ] && ok || fail "compare ends with another status than 0"
[[ $table == *"coupled "*"warm  yes"*"100.0%"* ]] && ok || fail "coupled does not stand and pass: $table"
[[ $table == *"two-pass:cold "*"cold "* ]] && ok || fail "no cold run: $table"
[[ $table == *"page.html"* ]] && ok || fail "the page is not named: $table"
[ "$(grep -c '<figure>' page.html)" -eq 4 ] && ok || fail "not four pictures"
grep -q '"name":"pgs:max_iterations=3","at":\[0,0.01' page.html && ok || fail "no curves of pgs"
grep -q 'id="player"' page.html && [ "$(grep -c '^{"name":.*"b":\[\[' page.html)" -eq 4 ] && ok || fail "the player has not four runs"
grep -q '"of":\[-1,0,1\]' page.html && ok || fail "the player has not the floor and two cards"
grep -Eq '(src|href)="http' && fail "the page has links" || ok

# one that is stopped by its limit is shown up to there, with what it did
late=$("$program" compare pile:count=60 --time 1000 --limit 1 --methods pgs -o late.html -q)
[[ $late == *"time limit"* ]] && ok || fail "no limit: $late"

# an option that a method cannot have is that row's failure, not that of the others
mixed=$("$program" compare card-pair --time 0.1 --methods coupled,pgs:max_iterations=0 -o mixed.html -q)
[[ $mixed == *"pgs:max_iterations=0"*"failed: "*"max_iterations"* && $mixed == *"100.0%"* ]] && ok || fail "mixed: $mixed"
grep -q 'failed: ' mixed.html && ok || fail "the page does not say so"

expect 2 "'gauss' is unknown" compare card-pair --methods gauss
expect 2 "is there twice" compare card-pair --methods pgs,pgs
expect 2 "give a scene file or a generator" compare
expect 2 "no file and no generator" compare nothing-like-it
expect 2 "/nowhere/page.html" compare card-pair --time 0.1 --methods coupled -o /nowhere/page.html -q

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
