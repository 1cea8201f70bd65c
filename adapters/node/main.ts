import { run } from './cli.ts'
import { exitAfter } from './host/exit.ts'

await exitAfter(run(process.argv.slice(2)))
