import { run } from './cli.ts'
import { exit } from './exit.ts'

await exit(await run(process.argv.slice(2)))
