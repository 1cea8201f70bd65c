import type { Part } from '../part.ts'
import { disk } from './disk.ts'
import { kill } from './kill.ts'
import { locked } from './locked.ts'
import { processes } from './processes.ts'
import { redis } from './redis.ts'
import { remote } from './remote.ts'

/** In the order of the page. */
export const parts: readonly Part[] = [kill, locked, disk, remote, processes, redis]
