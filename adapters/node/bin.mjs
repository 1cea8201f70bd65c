#!/usr/bin/env node
// The command. An old Node cannot even read the rest, so that is loaded once the version is known.
import { findVersionProblem } from './node-version.mjs'

const problem = findVersionProblem(process.versions.node)
if (problem === undefined) {
  import(new URL('./main.js', import.meta.url).href)
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
