// `npm start`: serves config.toml if there is one, else the demo.
import { existsSync } from 'node:fs'

if (!existsSync('config.toml')) process.argv.push('--demo')
await import('../dist/gateway.js')
