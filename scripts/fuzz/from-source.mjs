// The module of the thread in a checkout, where a thread needs its own TypeScript loader.
import { register } from 'tsx/esm/api'

register()
await import('./worker.ts')
