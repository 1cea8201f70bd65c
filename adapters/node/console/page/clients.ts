/** A part of a program, of a file or of a session in a shell. */
export interface ClientBlock {
  /** Its language, and the name of its test if it has one, as behind the fence of a block in Markdown. */
  readonly info: string
  readonly text: string
}

/** What a client needs to call the gateway. */
export interface Client {
  readonly name: string
  /**
   * Sentences in Markdown, and the blocks that they are about, in the order of reading. `fillTarget` replaces
   * `{address}`, `{docker_address}` and `{model}` in them.
   */
  readonly parts: readonly (string | ClientBlock)[]
}

/** What a client is set up for. */
export interface Target {
  /** The address of the gateway, without a path: `http://127.0.0.1:8080`. */
  readonly address: string
  /** The id of a model or a route. */
  readonly model: string
}

/** Returns a text of the table for a gateway and a model. */
export function fillTarget(text: string, { address, model }: Target): string {
  return text
    .replaceAll('{docker_address}', () => toDockerAddress(address))
    .replaceAll('{address}', () => address)
    .replaceAll('{model}', () => model)
}

/** In a container the loopback interface is that of the container. */
function toDockerAddress(address: string): string {
  return address.replace(
    /^(https?:\/\/)(?:localhost|127\.0\.0\.1|\[::1\])(?=:|$)/,
    '$1host.docker.internal',
  )
}

/** The clients, as the console shows them and docs/clients.md lists them (`npm run docs:clients`). */
export const clients: readonly Client[] = [
  {
    name: 'curl',
    parts: [
      {
        info: 'sh curl',
        text: `curl {address}/v1/chat/completions \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model":"{model}","messages":[{"role":"user","content":"Hello!"}]}'`,
      },
    ],
  },
  {
    name: 'OpenAI SDK',
    parts: [
      {
        info: 'ts openai',
        text: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '{address}/v1',
  apiKey: process.env['GATEWAY_KEY'],
})
const completion = await client.chat.completions.create({
  model: '{model}',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(completion.choices[0]?.message.content)`,
      },
      {
        info: 'python',
        text: `import os
from openai import OpenAI

client = OpenAI(base_url="{address}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="{model}", messages=[{"role": "user", "content": "Hello!"}]
)
print(completion.choices[0].message.content)`,
      },
      `A program that takes its settings from the environment needs no change at all:`,
      {
        info: 'sh',
        text: `export OPENAI_BASE_URL={address}/v1
export OPENAI_API_KEY="$GATEWAY_KEY"`,
      },
    ],
  },
  {
    name: 'Vercel AI SDK',
    parts: [
      {
        info: 'ts ai',
        text: `import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'

const gateway = createOpenAI({
  baseURL: '{address}/v1',
  apiKey: process.env['GATEWAY_KEY'] ?? '',
})
const { text } = await generateText({
  model: gateway('{model}'),
  prompt: 'Hello!',
  providerOptions: { openai: { store: false } },
})
console.log(text)`,
      },
    ],
  },
  {
    name: 'LangChain',
    parts: [
      {
        info: 'ts langchain',
        text: `import { ChatOpenAI } from '@langchain/openai'

const model = new ChatOpenAI({
  model: '{model}',
  apiKey: process.env['GATEWAY_KEY'] ?? '',
  configuration: { baseURL: '{address}/v1' },
})
const answer = await model.invoke('Hello!')
console.log(answer.text)`,
      },
      {
        info: 'python',
        text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="{model}", base_url="{address}/v1", api_key=os.environ["GATEWAY_KEY"]
)
print(model.invoke("Hello!").text)`,
      },
    ],
  },
  {
    name: 'Anthropic SDK',
    parts: [
      {
        info: 'ts anthropic',
        text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '{address}',
  apiKey: process.env['GATEWAY_KEY'] ?? '',
})
const message = await client.messages.create({
  model: '{model}',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))`,
      },
    ],
  },
  {
    name: 'Claude Code',
    parts: [
      {
        info: 'sh',
        text: `export ANTHROPIC_BASE_URL={address}
export ANTHROPIC_AUTH_TOKEN="$GATEWAY_KEY"
claude --model {model}`,
      },
    ],
  },
  {
    name: 'Open WebUI',
    parts: [
      {
        info: 'sh',
        text: `docker run -p 3000:8080 --add-host=host.docker.internal:host-gateway \\
  -e OPENAI_API_BASE_URL={docker_address}/v1 \\
  -e OPENAI_API_KEY="$GATEWAY_KEY" \\
  ghcr.io/open-webui/open-webui:main`,
      },
      `A gateway outside of Docker must then listen on more than the loopback interface: set
[\`server.host\`](settings.md#server) to \`0.0.0.0\`, and turn auth on.`,
    ],
  },
  {
    name: 'Continue',
    parts: [
      `In \`~/.continue/config.yaml\`:`,
      {
        info: 'yaml',
        text: `name: gateway
version: 1.0.0
schema: v1
models:
  - name: {model}
    provider: openai
    model: {model}
    apiBase: {address}/v1
    apiKey: \${{ secrets.GATEWAY_KEY }}
    roles: [chat, edit, apply]`,
      },
    ],
  },
  {
    name: 'Codex',
    parts: [
      `Codex uses the [Responses API](vendor-apis.md#responses). Add the gateway to \`~/.codex/config.toml\`, with an \`id\` of
the gateway as the model:`,
      {
        info: 'toml',
        text: `model = "{model}"
model_provider = "gateway"
# Codex always offers this tool otherwise, which a strict provider of another vendor refuses.
web_search = "disabled"

[model_providers.gateway]
name = "gateway"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "GATEWAY_KEY"`,
      },
      `Set \`GATEWAY_KEY\` to a virtual key; with auth off any value works. When a budget is spent, Codex stops with the
message of the 402.`,
      `To keep Codex's own provider and change only its address, one line is enough, with the key in \`CODEX_API_KEY\`
(\`codex exec\`) or from \`codex login --with-api-key\`:`,
      {
        info: 'toml',
        text: `openai_base_url = "{address}/v1"`,
      },
      `Codex then asks for a WebSocket first. The gateway answers 426, and Codex goes on over HTTP at once.`,
      `With \`model_catalog_url = "{address}/v1/models"\` Codex finds no entries of its own form, and keeps its
built-in description of a model: an entry would replace the instructions that Codex gives to the model.`,
    ],
  },
  {
    name: 'Gemini CLI',
    parts: [
      {
        info: 'sh',
        text: `export GOOGLE_GEMINI_BASE_URL={address}
export GEMINI_API_KEY="$GATEWAY_KEY"
gemini --model {model}`,
      },
      `In \`~/.gemini/settings.json\`, set \`security.auth.selectedType\` to \`"gemini-api-key"\`. Without \`--model\` the CLI asks for
models of Google by their own names, which then have to be ids of the gateway.`,
    ],
  },
  {
    name: 'opencode',
    parts: [
      `In \`opencode.json\`:`,
      {
        info: 'json',
        text: `{
  "$schema": "https://opencode.ai/config.json",
  "provider": {
    "gateway": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Gateway",
      "options": { "baseURL": "{address}/v1", "apiKey": "{env:GATEWAY_KEY}" },
      "models": { "{model}": { "name": "{model}" } }
    }
  },
  "model": "gateway/{model}",
  "small_model": "gateway/{model}"
}`,
      },
      `A chat request of opencode passes as it is, and some vendors have members of their own in their chat API. For a model
of one of them set \`npm\` to its package, with the same \`options\`: \`@ai-sdk/mistral\`, \`@ai-sdk/groq\`,
\`@openrouter/ai-sdk-provider\`. With \`"npm": "@ai-sdk/anthropic"\` opencode sends Messages requests instead, which
the gateway writes as each upstream demands them: this works with models of every kind, Gemini behind OpenRouter
included.`,
      `For a model that takes pictures, add \`"attachment": true\` and \`"modalities": { "input": ["text", "image"], "output":
["text"] }\` to it.`,
    ],
  },
]
