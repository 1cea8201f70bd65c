#!/usr/bin/env node
// The command. Old versions of Node.js cannot parse the other files, so check the version first.
import { findVersionProblem } from './node-version.mjs'

// A process that ends before the command has set its own code has failed.
process.exitCode = 1

const problem = findVersionProblem(process.versions.node)
if (problem === undefined) {
  import(new URL('./main.js', import.meta.url).href)
} else {
  process.stderr.write(`${problem}\n`)
}
