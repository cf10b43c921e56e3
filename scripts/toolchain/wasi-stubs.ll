; What Rust's standard library expects of wasi-libc, and the wasi-libc of Debian 12 (of May 2022) does not have: threads,
; which cannot be started, and `realpath`, which nothing here calls. Linked in only where the standard library is built from
; the distribution's sources. The numbers are errors of WASI: 6 is EAGAIN, 52 is ENOSYS.
target datalayout = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
target triple = "wasm32-unknown-wasi"

@errno = external thread_local global i32

define i32 @pthread_create(ptr %thread, ptr %attributes, ptr %start, ptr %argument) { ret i32 6 }
define i32 @pthread_join(ptr %thread, ptr %result) { ret i32 52 }
define i32 @pthread_detach(ptr %thread) { ret i32 0 }
define i32 @pthread_attr_init(ptr %attributes) { ret i32 0 }
define i32 @pthread_attr_destroy(ptr %attributes) { ret i32 0 }
define i32 @pthread_attr_setstacksize(ptr %attributes, i32 %size) { ret i32 0 }
define ptr @realpath(ptr %path, ptr %resolved) {
  store i32 52, ptr @errno
  ret ptr null
}
