import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../command.ts'

/** A program that runs clients of one language. */
export interface Program {
  readonly name: string
  readonly clients: string
  /** Builds what is missing, and returns the command. Throws an error that says what is missing. */
  build(): Promise<Command>
}

export type Command = readonly [string, ...string[]]

export const programs: readonly Program[] = [
  {
    name: 'python',
    clients: 'openai, anthropic, LangChain, pydantic-ai',
    build: () =>
      buildPython('requirements.txt', [
        'openai_sdk',
        'anthropic_sdk',
        'langchain',
        'pydantic_agents',
      ]),
  },
  {
    name: 'python-litellm',
    clients: 'LiteLLM',
    build: () => buildPython('requirements-litellm.txt', ['litellm_client']),
  },
  {
    name: 'python-google',
    clients: 'google-genai, LangChain for Gemini',
    build: () => buildPython('requirements-google.txt', ['google_sdks']),
  },
  { name: 'go', clients: 'openai-go, anthropic-sdk-go, go-genai', build: buildGo },
  {
    name: 'java',
    clients: 'openai-java, anthropic-java, LangChain4j, com.google.genai',
    build: buildJava,
  },
]

/** The folder of everything that is built. Git ignores it. */
export const buildFolder = resolve('.runtimes/conformance')

const sources = fileURLToPath(new URL('.', import.meta.url))

/** Makes a virtual environment with the pinned packages. It is made again when their list changes. */
async function buildPython(requirements: string, groups: readonly string[]): Promise<Command> {
  const list = join(sources, 'python', requirements)
  const environment = join(buildFolder, requirements.replace(/\.txt$/, ''))
  const python = join(environment, 'bin/python')
  const stamp = join(environment, 'installed.txt')
  const wanted = readFileSync(list, 'utf8')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    rmSync(environment, { recursive: true, force: true })
    await run(['python3', '-m', 'venv', environment])
    await run([python, '-m', 'pip', 'install', '--quiet', '--no-deps', '-r', list])
    writeFileSync(stamp, wanted)
  }
  return [python, join(sources, 'python/main.py'), ...groups]
}

async function buildGo(): Promise<Command> {
  const program = join(buildFolder, 'go/client')
  await run(['go', 'build', '-o', program, '.'], join(sources, 'go'))
  return [program]
}

async function buildJava(): Promise<Command> {
  const output = join(buildFolder, 'java')
  // Maven leaves the files of earlier versions there.
  rmSync(join(output, 'lib'), { recursive: true, force: true })
  const options = ['-q', '-B', '-ntp', `-Doutput=${output}`]
  await run(['mvn', ...options, 'compile'], join(sources, 'java'))
  return ['java', '-cp', `${output}/classes:${output}/lib/*`, 'conformance.Main']
}

/** Building the Go SDKs for the first time takes four minutes on two cores. */
const buildLimit = 20 * 60_000

/** Runs a build with the environment of the user, which may hold proxies and caches. */
async function run(command: Command, cwd = sources): Promise<void> {
  mkdirSync(buildFolder, { recursive: true })
  process.stderr.write(`${command.join(' ')}\n`)
  const { failure, stdout, stderr } = await runCommand(command, {
    cwd,
    env: Object.fromEntries(Object.entries(process.env).map(([name, value = '']) => [name, value])),
    limit: buildLimit,
  })
  if (failure === undefined) return
  const output = `${stdout}\n${stderr}`.trim().split('\n').slice(-10).join('\n')
  throw new Error(`${command[0]} ended with ${failure}:\n${output}`)
}
