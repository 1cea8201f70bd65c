// The thread's program inside a checkout, where nothing else compiles TypeScript for a thread.
// Tests compile it once, since compiling takes a second, and name the file here.
const built = process.env['BUILT_STORE_WORKER']
if (built) {
  await import(built)
} else {
  const { register } = await import('tsx/esm/api')
  register()
  await import('./worker.ts')
}
