/* The page of `drystone compare`: one file without links to others. A table, four charts over time, drawn by a few
 * lines of script from the numbers in the page, and the last frames side by side. */
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "output.h"

static const char HEAD[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1180px;margin:24px auto;padding:0 16px}\n"
    "h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:28px 0 8px}p{margin:4px 0;max-width:80ch}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}\n"
    "th,td{padding:4px 8px;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}\n"
    "th{font-weight:600;vertical-align:bottom}td:first-child,th:first-child{text-align:left;white-space:normal;"
    "overflow-wrap:anywhere;min-width:11em}\n"
    ".wide{overflow-x:auto}.good{color:#1a7f37}.bad{color:#c62828}.note{text-align:left;white-space:normal}\n"
    "@media(prefers-color-scheme:dark){.good{color:#56d364}.bad{color:#ff7b72}}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(480px,1fr));gap:12px}\n"
    ".charts svg{width:100%;height:auto;display:block}.charts text{font-size:12px;fill:currentColor}\n"
    "#legend{display:flex;flex-wrap:wrap;gap:4px 14px;margin:8px 0}#legend label{cursor:pointer}\n"
    "#legend i{display:inline-block;width:18px;height:3px;vertical-align:middle;margin:0 4px}\n"
    ".pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:12px}\n"
    "figure{margin:0}figure "
    "img{width:100%;display:block;border-radius:4px}figcaption{font-size:14px;overflow-wrap:anywhere}\n"
    ".bar{display:flex;gap:10px;align-items:center;margin:8px 0}.bar input{flex:1}\n"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:12px}.pair canvas{width:100%;display:block;border-radius:4px;"
    "touch-action:none}.pair select{max-width:100%;margin-bottom:4px}\n"
    "@media(max-width:700px){.pair{grid-template-columns:1fr}}\n"
    "</style>\n";

static const char SCRIPT[] =
    "const colors=['#0072b2','#d55e00','#009e73','#cc79a7','#e69f00','#56b4e9','#8c564b','#7f7f7f','#bcbd22',"
    "'#9467bd','#17becf','#d62728'];\n"
    "const charts=[['error','Natural-map error of the step',1],['moved','Farthest body from its start (mm)',1],"
    "['overlap','Deepest overlap (mm)',0],['energy','Energy since the start (J)',0]];\n"
    "const hidden=new Set();\n"
    "const ns='http://www.w3.org/2000/svg';\n"
    "function el(p,n,a,t){const e=document.createElementNS(ns,n);for(const k in a)e.setAttribute(k,a[k]);"
    "if(t!==undefined)e.textContent=t;p.appendChild(e);return e}\n"
    "function short(v){const a=Math.abs(v);return v===0?'0':a>=1e5||a<1e-3?v.toExponential(0):"
    "String(+v.toPrecision(3))}\n"
    "function ticks(lo,hi){const raw=(hi-lo)/5||1,p=10**Math.floor(Math.log10(raw)),"
    "s=[1,2,5,10].find(m=>m*p>=raw)*p,t=[];for(let v=Math.ceil(lo/s)*s;v<=hi+1e-9*s;v+=s)t.push(Math.abs(v)<1e-9*s?0:"
    "v);return t}\n"
    "function chart(box,[key,title,log]){\n"
    " const W=560,H=260,l=64,r=10,t=26,b=34,shown=runs.filter((_,i)=>!hidden.has(i)&&runs[i].at.length);\n"
    " const svg=el(box,'svg',{viewBox:`0 0 ${W} ${H}`,role:'img','aria-label':title});\n"
    " el(svg,'text',{x:l,y:16,'font-weight':600},title);\n"
    " const ok=v=>v!==null&&isFinite(v)&&(!log||v>0),f=v=>log?Math.log10(v):v;\n"
    " let lo=Infinity,hi=-Infinity;for(const s of shown)for(const v of s[key])if(ok(v)){lo=Math.min(lo,f(v));"
    "hi=Math.max(hi,f(v))}\n"
    " if(lo>hi){el(svg,'text',{x:W/2,y:H/2,'text-anchor':'middle'},log?'zero throughout':'nothing to show');return}\n"
    " if(log){lo=Math.floor(Math.max(lo,hi-16));hi=Math.ceil(hi);if(lo===hi)lo--}"
    "else if(lo===hi){lo-=1;hi+=1}\n"
    " const X=v=>l+(W-l-r)*v/(span||1),Y=v=>H-b-(H-t-b)*(v-lo)/(hi-lo);\n"
    " const rows=log?[]:ticks(lo,hi);if(log)for(let v=lo;v<=hi;v+=Math.ceil((hi-lo)/6))rows.push(v);\n"
    " for(const v of rows){el(svg,'path',{d:`M${l} ${Y(v)}H${W-r}`,stroke:'#8886',fill:'none'});"
    "el(svg,'text',{x:l-6,y:Y(v)+4,'text-anchor':'end'},log?'1e'+v:short(v))}\n"
    " for(const v of ticks(0,span)){el(svg,'path',{d:`M${X(v)} ${t}V${H-b}`,stroke:'#8883',fill:'none'});"
    "el(svg,'text',{x:X(v),y:H-b+16,'text-anchor':'middle'},short(v))}\n"
    " el(svg,'text',{x:W-r,y:H-4,'text-anchor':'end'},'time (s)');\n"
    " runs.forEach((s,i)=>{if(hidden.has(i))return;let d='',pen='M';s.at.forEach((x,k)=>{const v=s[key][k];"
    "if(!ok(v)){pen='M';return}d+=pen+X(x).toFixed(1)+' '+Y(Math.max(lo,f(v))).toFixed(1);pen='L'});"
    "if(d)el(svg,'path',{d,stroke:colors[i%colors.length],'stroke-width':1.8,fill:'none',"
    "'stroke-dasharray':i<colors.length?'none':'5 3'})});\n}\n"
    "function all(){const box=document.getElementById('charts');box.textContent='';charts.forEach(c=>chart(box,c))}\n"
    "const legend=document.getElementById('legend');\n"
    "runs.forEach((s,i)=>{const a=document.createElement('label'),c=document.createElement('input'),"
    "m=document.createElement('i');c.type='checkbox';c.checked=true;m.style.background=colors[i%colors.length];"
    "c.onchange=()=>{c.checked?hidden.delete(i):hidden.add(i);all()};a.append(c,m,s.name);legend.append(a)});\n"
    "all();\n";

/* Text inside HTML, or inside a script: what could end either is written as an entity or an escape. */
static void put_text(FILE *f, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '<')
      fputs("&lt;", f);
    else if (*text == '>')
      fputs("&gt;", f);
    else if (*text == '&')
      fputs("&amp;", f);
    else if (*text == '"')
      fputs("&quot;", f);
    else
      fputc(*text, f);
  }
}

void compare_put_string(FILE *f, const char *text) {
  fputc('"', f);
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c < 0x20)
      fprintf(f, "\\u%04x", c);
    else
      fputc(c, f);
  }
  fputc('"', f);
}

static void put_numbers(FILE *f, const char *key, const double *values, int32_t count, double unit) {
  fprintf(f, ",\"%s\":[", key);
  for (int32_t i = 0; i < count; i++)
    if (isfinite(values[i]))
      fprintf(f, "%s%.4g", i > 0 ? "," : "", unit * values[i]);
    else
      fprintf(f, "%snull", i > 0 ? "," : "");
  fputc(']', f);
}

static void put_row(FILE *f, const compare_run *r) {
  fputs("<tr><td>", f);
  put_text(f, r->name);
  if (r->points == 0) {
    fputs("</td><td class=\"note\" colspan=\"10\">failed: ", f);
    put_text(f, r->note);
    fputs("</td></tr>\n", f);
    return;
  }
  bool certified = r->converged_share == 1;
  fprintf(f, "</td><td>%s</td><td class=\"%s\">%s</td>", r->warm ? "warm" : "cold", r->stands ? "good" : "bad",
          r->stands ? "yes" : "no");
  fprintf(f, "<td class=\"%s\">%.1f %%</td><td>%.1e</td><td>%.3g</td><td>%.2g</td><td>%.2g</td>",
          certified ? "good" : "bad", 100 * r->converged_share, r->error, 1e3 * r->moved, 1e3 * r->creep,
          1e3 * r->overlap);
  fprintf(f, "<td>%.2g</td><td>%.1e</td><td>%.3g</td><td class=\"note\">", r->gain, r->momentum,
          r->time > 0 ? r->cpu / r->time : 0);
  if (r->end == COMPARE_LIMIT) fprintf(f, "time limit at %.3g s", r->time);
  if (r->end == COMPARE_FAILED) put_text(f, r->note);
  fputs("</td></tr>\n", f);
}

static void put_table(FILE *f, const compare_run *runs, int32_t count) {
  fputs(
      "<div class=\"wide\"><table><thead><tr><th>method</th><th>start</th><th>stands</th><th>certified<br>steps</th>"
      "<th>worst<br>error</th><th>moved<br>mm</th><th>creep<br>mm/s</th><th>overlap<br>mm</th>"
      "<th>energy<br>gain J</th><th>momentum<br>error</th><th>cpu s per<br>simulated s</th><th></th></tr></thead>"
      "<tbody>\n",
      f);
  for (int32_t i = 0; i < count; i++) put_row(f, &runs[i]);
  fputs("</tbody></table></div>\n", f);
}

static void put_data(FILE *f, const compare_run *runs, int32_t count, double time) {
  static const char *const keys[CURVE_COUNT] = {"error", "moved", "overlap", "energy"};
  static const double units[CURVE_COUNT] = {1, 1e3, 1e3, 1};
  fprintf(f, "<script>\nconst span=%.6g,runs=[\n", time);
  for (int32_t i = 0; i < count; i++) {
    fputs("{\"name\":", f);
    compare_put_string(f, runs[i].name);
    put_numbers(f, "at", runs[i].at, runs[i].points, 1);
    for (int k = 0; k < CURVE_COUNT; k++) put_numbers(f, keys[k], runs[i].curve[k], runs[i].points, units[k]);
    fputs(i + 1 < count ? "},\n" : "}];\n", f);
  }
  fputs(SCRIPT, f);
  fputs("</script>\n", f);
}

static void put_pictures(FILE *f, const compare_run *runs, int32_t count) {
  fputs("<h2>At the end</h2>\n<div class=\"pictures\">\n", f);
  for (int32_t i = 0; i < count; i++) {
    if (runs[i].picture == NULL) continue;
    fprintf(f, "<figure><img alt=\"last frame\" src=\"data:image/png;base64,%s\"><figcaption>", runs[i].picture);
    put_text(f, runs[i].name);
    fprintf(f, ", %.3g s</figcaption></figure>\n", runs[i].time);
  }
  fputs("</div>\n", f);
}

bool compare_page(const char *path, const char *source, const compare_run *runs, int32_t count, double time,
                  ds_error *error) {
  output out;
  if (!output_open(&out, path, error)) return false;
  FILE *f = out.file;
  fputs(HEAD, f);
  fputs("<title>", f);
  put_text(f, source);
  fputs("</title></head><body>\n<h1>", f);
  put_text(f, source);
  fprintf(f, "</h1>\n<p>%.6g s with %d methods, Drystone %s. One thread each.</p>\n", time, (int)count, ds_version());
  put_table(f, runs, count);
  fputs(
      "<p>A body stands where it is no farther from its start than half its bounding radius. Certified steps have a "
      "natural-map error within the tolerance, with the exact friction disk. Creep is the speed of mean positions at "
      "the end. Energy gain and momentum error are those of the worst step, and no force accounts for them.</p>\n"
      "<h2>Over time</h2>\n<div id=\"legend\"></div><div id=\"charts\" class=\"charts\"></div>\n",
      f);
  fputs(
      "<h2>Side by side</h2>\n<p>Drag to turn, scroll to zoom. Both show the same time.</p>\n<div "
      "id=\"player\"></div>\n",
      f);
  bool played = compare_play(f, runs, count);
  put_pictures(f, runs, count);
  put_data(f, runs, count, time);
  fputs("</body></html>\n", f);
  if (!played) {
    output_discard(&out);
    snprintf(error->message, sizeof error->message, "out of memory, or a recording was lost");
    return false;
  }
  return output_commit(&out, error);
}
