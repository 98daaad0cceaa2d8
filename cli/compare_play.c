/* The player in the page of `drystone compare`: any two of the runs side by side, at the same time. The page holds the
 * surfaces of the bodies once, coarsely, and their poses at up to FRAMES_MAX times of each run; a script turns them
 * into triangles on two canvases, sorted by depth. Deformable bodies are their undeformed surface plus modes times
 * reduced coordinates, as they are in the library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bodies.h"
#include "compare.h"
#include "palette.h"
#include "record/record.h"
#include "skin.h"
#include "tessellate.h"

enum {
  FRAMES_MAX = 61,
  FRAMES_MIN = 7,
  POSES_MAX = 6000,      /* of a run: 0.3 MB of text */
  TRIANGLES_MAX = 12000, /* of all bodies: a frame takes some 20 ms */
  SEGMENTS = 16          /* corners of a circle */
};

static const char SET_UP[] =
    "(()=>{\n"
    "const box=document.getElementById('player'),views=[],n=play.runs.length;\n"
    "let az=-.7,el=.3,zoom=1,t=0,on=false,last=0;const end=Math.max(...play.runs.map(r=>r.t[r.t.length-1]));\n"
    "const make=(p,k,a={})=>{const e=document.createElement(k);Object.assign(e,a);p.append(e);return e};\n"
    "const bar=make(box,'div',{className:'bar'}),button=make(bar,'button',{textContent:'Play',id:'play'}),"
    "slider=make(bar,'input',{type:'range',min:0,max:1000,value:0,ariaLabel:'time'}),"
    "speed=make(bar,'select',{ariaLabel:'speed'}),"
    "clock=make(bar,'output');\n"
    "for(const s of [1,.5,.2,.1,.02])make(speed,'option',{value:s,textContent:s+'x'});\n"
    "const pair=make(box,'div',{className:'pair'});\n"
    "for(let i=0;i<2;i++){const d=make(pair,'div'),s=make(d,'select',{ariaLabel:i?'right':'left'}),"
    "c=make(d,'canvas',{width:1100,height:760}),o=make(d,'p');"
    "play.runs.forEach((r,k)=>make(s,'option',{value:k,textContent:r.name}));s.value=Math.min(i,n-1);s.onchange=draw;"
    "views.push({s,c,o});"
    "c.onpointerdown=e=>{c.setPointerCapture(e.pointerId);c.on=[e.clientX,e.clientY]};"
    "c.onpointermove=e=>{if(!c.on)return;az-=(e.clientX-c.on[0])*.008;"
    "el=Math.max(-.2,Math.min(1.5,el+(e.clientY-c.on[1])*.008));c.on=[e.clientX,e.clientY];draw()};"
    "c.onpointerup=()=>{c.on=null};"
    "c.addEventListener('wheel',e=>{e.preventDefault();zoom*=Math.exp(-e.deltaY*.001);draw()},{passive:false})}\n"
    "const turn=(q,v)=>{const [w,x,y,z]=q,a=2*(y*v[2]-z*v[1]),b=2*(z*v[0]-x*v[2]),c=2*(x*v[1]-y*v[0]);"
    "return[v[0]+w*a+y*c-z*b,v[1]+w*b+z*a-x*c,v[2]+w*c+x*b-y*a]};\n"
    "function pose(list,k,f){const a=list.length>7?list.slice(7*k,7*k+7):list;"
    "if(!f||list.length<=7)return a;const b=list.slice(7*k+7,7*k+14);"
    "const s=a[3]*b[3]+a[4]*b[4]+a[5]*b[5]+a[6]*b[6]<0?-1:1,"
    "c=a.map((x,i)=>i<3?x+f*(b[i]-x):x+f*(s*b[i]-x)),l=Math.hypot(c[3],c[4],c[5],c[6]);"
    "return c.map((x,i)=>i<3?x:x/l)}\n";

static const char PAINT[] =
    "function paint(view){\n"
    " const run=play.runs[view.s.value],g=view.c.getContext('2d'),W=view.c.width,H=view.c.height,T=run.t;"
    "let k=0;while(k<T.length-1&&T[k+1]<=t)k++;\n"
    " const f=k<T.length-1?Math.max(0,(t-T[k])/(T[k+1]-T[k])):0,ca=Math.cos(az),sa=Math.sin(az),ce=Math.cos(el),"
    "se=Math.sin(el),m=play.centre,scale=.46*H/play.radius*zoom;\n"
    " const eye=p=>{const x=p[0]-m[0],y=p[1]-m[1],z=p[2]-m[2],r=ca*x+sa*y,d=-sa*x+ca*y;"
    "return[W/2+scale*r,H/2-scale*(ce*z+se*d),ce*d-se*z]};\n"
    " g.fillStyle='#f4f5f7';g.fillRect(0,0,W,H);g.lineWidth=1;\n"
    " for(const q of play.ground){g.fillStyle='#e2e5ea';g.strokeStyle='#c9ced6';const at=(i,j)=>eye([0,1,2].map(c=>"
    "q[0][c]+i*q[1][c]+j*q[2][c]));g.beginPath();for(const[i,j]of[[-1,-1],[1,-1],[1,1],[-1,1]])g.lineTo(...at(i,j));"
    "g.fill();g.beginPath();for(let i=-5;i<=5;i++){g.moveTo(...at(i/5,-1));g.lineTo(...at(i/5,1));"
    "g.moveTo(...at(-1,i/5));g.lineTo(...at(1,i/5))}g.stroke()}\n"
    " const all=[];play.of.forEach((mesh,i)=>{if(mesh<0)return;const s=play.mesh[mesh],q=pose(run.b[i],k,f),"
    "turned=q.slice(3),w=run.q[i]?run.q[i].slice(s.m.length*k,s.m.length*(k+1)):null,v=[],o=[];"
    "for(let j=0;j<s.v.length;j+=3){const p=[s.v[j],s.v[j+1],s.v[j+2]];"
    "if(w)w.forEach((a,r)=>{p[0]+=a*s.m[r][j];p[1]+=a*s.m[r][j+1];p[2]+=a*s.m[r][j+2]});"
    "const x=turn(turned,p);for(let c=0;c<3;c++)x[c]+=q[c];o.push(x);v.push(eye(x))}\n"
    "  for(let j=0;j<s.f.length;j+=3){const[a,b,c]=[v[s.f[j]],v[s.f[j+1]],v[s.f[j+2]]];"
    "if((b[0]-a[0])*(c[1]-a[1])-(b[1]-a[1])*(c[0]-a[0])>=0)continue;"
    "const[A,B,C]=[o[s.f[j]],o[s.f[j+1]],o[s.f[j+2]]],u=B.map((x,i)=>x-A[i]),w=C.map((x,i)=>x-A[i]),"
    "N=[u[1]*w[2]-u[2]*w[1],u[2]*w[0]-u[0]*w[2],u[0]*w[1]-u[1]*w[0]],l=Math.hypot(...N)||1,"
    "light=.55+.45*Math.max(0,(.3*N[0]-.5*N[1]+.8*N[2])/l);all.push([a[2]+b[2]+c[2],a,b,c,i,light])}});\n"
    " all.sort((x,y)=>y[0]-x[0]);for(const[,a,b,c,i,light]of all){const h=play.color[i];"
    "g.fillStyle=g.strokeStyle=`rgb(${h.map(x=>Math.round(x*light))})`;g.beginPath();g.moveTo(a[0],a[1]);"
    "g.lineTo(b[0],b[1]);g.lineTo(c[0],c[1]);g.closePath();g.fill();g.stroke()}\n"
    " const late=t>T[T.length-1]+1e-9;view.o.textContent=late?`ended at ${T[T.length-1].toPrecision(3)} s`:"
    "`error of the step ${(run.e[k]??NaN).toExponential(1)}`}\n"
    "function draw(){clock.textContent=t.toFixed(2)+' s';slider.value=end>0?1000*t/end:0;views.forEach(paint)}\n"
    "function tick(now){if(!on)return;t+=Math.min(.1,(now-last)/1000)*speed.value;last=now;"
    "if(t>=end){t=end;stop()}draw();requestAnimationFrame(tick)}\n"
    "function stop(){on=false;button.textContent='Play'}\n"
    "button.onclick=()=>{if(on)return stop();if(t>=end)t=0;on=true;last=performance.now();button.textContent='Pause';"
    "requestAnimationFrame(tick)};\n"
    "slider.oninput=()=>{stop();t=end*slider.value/1000;draw()};draw();\n"
    "})();\n";

typedef struct player {
  FILE *f;
  const ds_scene *scene;
  int32_t bodies, each; /* triangles of a solid, at most */
  int32_t *mesh_of;     /* the first body with the same solid or deformable surface; itself; -1: none */
} player;

static void put_number(FILE *f, double value, bool first, const char *form) {
  if (!first) fputc(',', f);
  fprintf(f, form, isfinite(value) ? value : 0);
}

/* ---- Surfaces ---- */

static const void *source_of(const ds_scene *scene, int32_t body) {
  if (ds_body_shape_count(scene, body_at(body)) != 1) return NULL;
  ds_shape_def shape = ds_body_shape(scene, body_at(body), 0);
  return shape.reduced != NULL ? (const void *)shape.reduced : (const void *)shape.solid;
}

static bool build(ds_model *model, const player *p, int32_t body) {
  ds_body_id id = body_at(body);
  bool ok = true;
  for (int32_t i = 0; ok && i < ds_body_shape_count(p->scene, id); i++) {
    ds_shape_def shape = ds_body_shape(p->scene, id, i);
    if (shape.kind == DS_SHAPE_HALF_SPACE || shape.reduced != NULL) continue;
    if (shape.solid != NULL) {
      ds_skin skin;
      ok = ds_skin_build(&skin, ds_solid_mesh(shape.solid), NULL, p->each);
      if (ok) ok = ds_model_add_skin(model, &skin, shape.pose, 0, false);
      ds_skin_free(&skin);
    } else {
      ok = ds_model_add_shape(model, shape.pose, p->scene, id, i, SEGMENTS, 0);
    }
  }
  return ok;
}

static void put_rigid(const player *p, const ds_model *m) {
  fputs("{\"m\":[],\"v\":[", p->f);
  for (int32_t i = 0; i < 3 * m->vertex_count; i++)
    put_number(p->f, (double)m->vertices[i / 3].position[i % 3], i == 0, "%.5g");
  fputs("],\"f\":[", p->f);
  for (int32_t i = 0; i < 3 * m->triangle_count; i++)
    put_number(p->f, m->triangles[i / 3].corner[i % 3], i == 0, "%.0f");
  fputs("]}", p->f);
}

static bool put_deformable(const player *p, const ds_reduced *reduced) {
  ds_reduced_info info = ds_reduced_get_info(reduced);
  const int32_t *corners = ds_reduced_triangles(reduced);
  ds_vec3 *points = malloc(((size_t)info.vertices + 1) * sizeof *points);
  if (points == NULL) return false;
  for (int32_t mode = -1; mode < info.modes; mode++) {
    if (mode < 0)
      ds_reduced_shape(points, reduced, NULL);
    else
      ds_reduced_mode(points, reduced, mode);
    fputs(mode < 0 ? "{\"v\":[" : mode == 0 ? "],\"m\":[[" : "],[", p->f);
    for (int32_t i = 0; i < info.vertices; i++) {
      put_number(p->f, points[i].x, i == 0, "%.4g");
      put_number(p->f, points[i].y, false, "%.4g");
      put_number(p->f, points[i].z, false, "%.4g");
    }
  }
  fputs(info.modes > 0 ? "]],\"f\":[" : "],\"m\":[],\"f\":[", p->f);
  for (int32_t i = 0; i < 3 * info.triangles; i++) put_number(p->f, corners[i], i == 0, "%.0f");
  fputs("]}", p->f);
  free(points);
  return true;
}

/* One surface per body, or per solid, and which body has which. */
static bool put_surfaces(player *p) {
  int32_t count = 0;
  bool ok = true;
  fputs("\"mesh\":[", p->f);
  for (int32_t i = 0; ok && i < p->bodies; i++) {
    const void *source = source_of(p->scene, i);
    p->mesh_of[i] = -1;
    for (int32_t j = 0; source != NULL && p->mesh_of[i] < 0 && j < i; j++)
      if (source_of(p->scene, j) == source) p->mesh_of[i] = p->mesh_of[j];
    if (p->mesh_of[i] >= 0) continue;
    ds_model model = {0};
    const ds_reduced *reduced = body_reduced(p->scene, i);
    ok = build(&model, p, i);
    if (ok && (reduced != NULL || model.triangle_count > 0)) {
      if (count > 0) fputs(",\n", p->f);
      p->mesh_of[i] = count++;
      if (reduced != NULL)
        ok = put_deformable(p, reduced);
      else
        put_rigid(p, &model);
    }
    ds_model_free(&model);
  }
  fputs("],\n\"of\":[", p->f);
  for (int32_t i = 0; i < p->bodies; i++) put_number(p->f, p->mesh_of[i], i == 0, "%.0f");
  fputs("],\"color\":[", p->f);
  for (int32_t i = 0; i < p->bodies; i++) {
    ds_vec3 c = ds_palette_color(p->scene, i);
    fprintf(p->f, "%s[%.0f,%.0f,%.0f]", i > 0 ? "," : "", 255 * c.x, 255 * c.y, 255 * c.z);
  }
  fputs("]", p->f);
  return ok;
}

/* ---- Where to look ---- */

static void put_view(const player *p, const ds_pose *at) {
  ds_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  bool any = false;
  for (int32_t i = 0; i < p->bodies; i++) {
    double r = ds_body_radius(p->scene, body_at(i));
    if (!body_is_dynamic(p->scene, i) || !isfinite(r)) continue;
    ds_vec3 reach = {r, r, r}, a = v3_sub(at[i].p, reach), b = v3_add(at[i].p, reach);
    low = (ds_vec3){fmin(low.x, a.x), fmin(low.y, a.y), fmin(low.z, a.z)};
    high = (ds_vec3){fmax(high.x, b.x), fmax(high.y, b.y), fmax(high.z, b.z)};
    any = true;
  }
  ds_vec3 centre = any ? v3_scale(0.5, v3_add(low, high)) : v3(0, 0, 0);
  double radius = any ? 0.5 * v3_norm(v3_sub(high, low)) : 1;
  fprintf(p->f, ",\"centre\":[%.5g,%.5g,%.5g],\"radius\":%.5g,\"ground\":[", centre.x, centre.y, centre.z, radius);
  for (int32_t i = 0, count = 0; i < p->bodies; i++)
    for (int32_t k = 0; k < ds_body_shape_count(p->scene, body_at(i)); k++) {
      ds_shape_def shape = ds_body_shape(p->scene, body_at(i), k);
      if (shape.kind != DS_SHAPE_HALF_SPACE) continue;
      ds_quat q = quat_mul(at[i].q, shape.pose.q);
      ds_vec3 o = v3_add(at[i].p, quat_rotate(at[i].q, shape.pose.p)), n = quat_rotate(q, v3(0, 0, 1));
      o = v3_mad(centre, v3_dot(v3_sub(o, centre), n), n); /* the plane's point below the centre */
      ds_vec3 e[2] = {v3_scale(2 * radius, quat_rotate(q, v3(1, 0, 0))),
                      v3_scale(2 * radius, quat_rotate(q, v3(0, 1, 0)))};
      fprintf(p->f, "%s[[%.5g,%.5g,%.5g],[%.5g,%.5g,%.5g],[%.5g,%.5g,%.5g]]", count++ > 0 ? "," : "", o.x, o.y, o.z,
              e[0].x, e[0].y, e[0].z, e[1].x, e[1].y, e[1].z);
    }
  fputs("]", p->f);
}

/* ---- Motion ---- */

/* Frames of a run, evenly spread. */
static int32_t frame_of(const ds_recording *recording, int32_t i, int32_t count) {
  int32_t frames = ds_recording_frame_count(recording);
  return count > 1 ? (int32_t)((int64_t)i * (frames - 1) / (count - 1)) : 0;
}

typedef struct reel {
  int32_t frames, reduced;
  double *time, *error, *q;
  ds_pose *pose; /* frames x bodies */
} reel;

static void reel_free(reel *r) {
  free(r->time);
  free(r->error);
  free(r->q);
  free(r->pose);
}

static bool read_reel(reel *r, const player *p, ds_recording *recording, int32_t most) {
  int32_t frames = ds_recording_frame_count(recording);
  ds_error error;
  r->frames = frames < most ? frames : most;
  r->reduced = ds_scene_reduced_count(p->scene);
  size_t n = (size_t)r->frames + 1, bodies = (size_t)p->bodies, modes = (size_t)r->reduced;
  r->time = malloc(n * sizeof *r->time);
  r->error = malloc(n * sizeof *r->error);
  r->q = malloc(n * (modes + 1) * sizeof *r->q);
  r->pose = malloc(n * (bodies + 1) * sizeof *r->pose);
  if (r->time == NULL || r->error == NULL || r->q == NULL || r->pose == NULL) return false;
  for (int32_t i = 0; i < r->frames; i++) {
    ds_frame frame;
    if (ds_recording_read_bodies(recording, &frame, frame_of(recording, i, r->frames), &error) != DS_OK) return false;
    r->time[i] = frame.time, r->error[i] = frame.report.worst.natural_error;
    for (size_t b = 0; b < bodies; b++) r->pose[(size_t)i * bodies + b] = frame.poses[b];
    for (size_t k = 0; k < modes; k++) r->q[(size_t)i * modes + k] = frame.reduced[k];
  }
  return true;
}

static bool stays(const reel *r, int32_t bodies, int32_t body) {
  const ds_pose *a = &r->pose[body];
  for (int32_t i = 1; i < r->frames; i++) {
    const ds_pose *b = &r->pose[(size_t)i * (size_t)bodies + (size_t)body];
    if (v3_norm(v3_sub(a->p, b->p)) > 0 || a->q.w != b->q.w || a->q.x != b->q.x || a->q.y != b->q.y || a->q.z != b->q.z)
      return false;
  }
  return true;
}

static void put_reel(const player *p, const reel *r) {
  FILE *f = p->f;
  fputs("\"t\":[", f);
  for (int32_t i = 0; i < r->frames; i++) put_number(f, r->time[i], i == 0, "%.6g");
  fputs("],\"e\":[", f);
  for (int32_t i = 0; i < r->frames; i++) put_number(f, r->error[i], i == 0, "%.2g");
  fputs("],\"b\":[", f);
  for (int32_t b = 0; b < p->bodies; b++) {
    int32_t frames = stays(r, p->bodies, b) ? 1 : r->frames;
    fputs(b > 0 ? ",[" : "[", f);
    for (int32_t i = 0; i < frames; i++) {
      ds_pose at = r->pose[(size_t)i * (size_t)p->bodies + (size_t)b];
      const double value[7] = {at.p.x, at.p.y, at.p.z, at.q.w, at.q.x, at.q.y, at.q.z};
      for (int k = 0; k < 7; k++) put_number(f, value[k], i + k == 0, k < 3 ? "%.5g" : "%.4g");
    }
    fputs("]", f);
  }
  fputs("],\"q\":[", f);
  for (int32_t b = 0; b < p->bodies; b++) {
    const ds_reduced *reduced = body_reduced(p->scene, b);
    int32_t modes = reduced != NULL ? ds_reduced_get_info(reduced).modes : 0;
    int32_t first = modes > 0 ? ds_body_first_reduced(p->scene, body_at(b)) : 0;
    fputs(b > 0 ? "," : "", f);
    fputs(modes > 0 ? "[" : "null", f);
    for (int32_t i = 0; i < r->frames * modes; i++)
      put_number(f, r->q[(size_t)(i / modes) * (size_t)r->reduced + (size_t)(first + i % modes)], i == 0, "%.4g");
    fputs(modes > 0 ? "]" : "", f);
  }
  fputs("]}", f);
}

/* One run; the first one brings the bodies. */
static bool put_run(player *p, const compare_run *run, bool first) {
  ds_error error;
  ds_recording *recording = ds_recording_open(run->record, &error);
  if (recording == NULL) return false;
  p->scene = ds_recording_scene(recording);
  p->bodies = ds_scene_body_count(p->scene);
  int32_t most = POSES_MAX / (p->bodies > 0 ? p->bodies : 1);
  most = most > FRAMES_MAX ? FRAMES_MAX : most < FRAMES_MIN ? FRAMES_MIN : most;
  p->each = TRIANGLES_MAX / (p->bodies > 0 ? p->bodies : 1) + 12;
  reel r = {0};
  bool ok = read_reel(&r, p, recording, most);
  if (ok && first) {
    p->mesh_of = calloc((size_t)p->bodies + 1, sizeof *p->mesh_of);
    ok = p->mesh_of != NULL && put_surfaces(p);
    if (ok) put_view(p, r.pose);
    fputs(",\n\"runs\":[", p->f);
  }
  if (ok) {
    fputs(first ? "\n{\"name\":" : ",\n{\"name\":", p->f);
    compare_put_string(p->f, run->name);
    fputs(",", p->f);
    put_reel(p, &r);
  }
  reel_free(&r);
  ds_recording_close(recording);
  return ok;
}

bool compare_play(FILE *f, const compare_run *runs, int32_t count) {
  player p = {.f = f};
  int32_t shown = 0;
  bool ok = true;
  fputs("<script>\nconst play={", f);
  for (int32_t i = 0; ok && i < count; i++)
    if (runs[i].points > 0) ok = put_run(&p, &runs[i], shown++ == 0);
  free(p.mesh_of);
  fputs(shown > 0 ? "]};\n" : "\"runs\":[]};\n", f);
  if (shown > 0) fputs(SET_UP, f);
  if (shown > 0) fputs(PAINT, f);
  fputs("</script>\n", f);
  return ok;
}
