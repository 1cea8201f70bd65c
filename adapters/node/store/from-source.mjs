// The thread's program inside a checkout, where nothing else compiles TypeScript for a thread.
import { register } from 'tsx/esm/api'

register()
await import('./worker.ts')
