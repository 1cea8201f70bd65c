import { fileURLToPath } from 'node:url'
import type { Client, Door } from '../client.ts'
import { runCommand } from '../command.ts'
import type { Kind } from '../kinds.ts'
import type { Outcome } from './checks.ts'

/** The clients that run as a script of this folder. */
export const sdks: readonly Client[] = [
  sdk({
    name: 'anthropic-sdk',
    title: 'Anthropic SDK',
    package: '@anthropic-ai/sdk',
    api: 'Messages',
    carriesProofs: true,
  }),
  sdk({
    name: 'ai-anthropic',
    title: 'AI SDK, Anthropic provider',
    package: '@ai-sdk/anthropic',
    api: 'Messages',
    carriesProofs: true,
  }),
  sdk({
    name: 'openai-sdk',
    title: 'OpenAI SDK',
    package: 'openai',
    api: 'Responses',
    carriesProofs: true,
  }),
  sdk({
    name: 'agents-sdk',
    title: 'OpenAI Agents SDK',
    package: '@openai/agents',
    api: 'Responses',
    carriesProofs: true,
  }),
  sdk({
    name: 'ai-openai-stateless',
    title: 'AI SDK, OpenAI provider, `store: false`',
    package: '@ai-sdk/openai',
    api: 'Responses',
    carriesProofs: true,
  }),
  sdk({
    name: 'ai-openai',
    title: 'AI SDK, OpenAI provider, one turn',
    package: '@ai-sdk/openai',
    api: 'Responses',
    carriesProofs: false,
  }),
  sdk({
    name: 'google-genai',
    title: 'Google Gen AI SDK',
    package: '@google/genai',
    api: 'Gemini',
    carriesProofs: true,
  }),
  sdk({
    name: 'langchain-google',
    title: 'LangChain, `ChatGoogleGenerativeAI`',
    package: '@langchain/google-genai',
    api: 'Gemini',
    carriesProofs: true,
    refusedBy: ['google'],
  }),
  sdk({
    name: 'openai-chat',
    title: 'OpenAI SDK',
    package: 'openai',
    api: 'Chat',
    carriesProofs: false,
  }),
  sdk({
    name: 'decisions-openai',
    title: 'OpenAI SDK',
    package: 'openai',
    api: 'Decisions',
    decisions: 'openai',
    carriesProofs: false,
  }),
  sdk({
    name: 'decisions-typesafe',
    title: 'TypeSafe SDK',
    package: '@typesafe-ai/sdk',
    api: 'Decisions',
    decisions: 'typesafe',
    carriesProofs: false,
  }),
]

function sdk(facts: Omit<Client, 'run'>): Client {
  return { ...facts, run: (kind, door) => runScript(facts.name, kind, door) }
}

/** Each script is a process of its own, because SDKs keep global state. */
async function runScript(name: string, kind: Kind, door: Door): Promise<readonly Outcome[]> {
  const script = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const { failure, stdout, stderr } = await runCommand(
    [process.execPath, '--import', 'tsx', script],
    {
      cwd: process.cwd(),
      env: {
        CONFORMANCE_ADDRESS: door.address,
        CONFORMANCE_KEY: door.key,
        CONFORMANCE_KIND: kind.name,
      },
      limit: 120_000,
    },
  )
  // The scripts print outcomes and nothing else.
  const outcomes = stdout
    .trim()
    .split('\n')
    .map((line): Outcome => JSON.parse(line || '{}'))
  if (failure === undefined) return outcomes
  return [...outcomes, { check: 'end', problem: `the script ended with ${failure}: ${stderr}` }]
}
