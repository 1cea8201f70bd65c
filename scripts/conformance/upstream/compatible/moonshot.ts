import { findChoice, findMember, findMessage, findName, findUntyped, listCalls } from './find.ts'
import { toMemberForm } from './form.ts'
import type { Body } from './request.ts'
import { calling, named, result, thoughts, tool, user } from './samples.ts'
import { findChangedThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** The sampling of K2.6. */
const fixed: Readonly<Record<string, number>> = {
  temperature: 1,
  top_p: 0.95,
  n: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
}

const id = 'functions.weather:0'
const past = [user, calling({ reasoning_content: thoughts }, id), result(id)]

/** Kimi K2.6: https://platform.moonshot.ai/docs/api/chat */
export const moonshot: CompatibleUpstream = {
  name: 'moonshot',
  model: 'kimi-k2.6',
  thinks,
  form: () => toMemberForm('reasoning_content'),
  toId: ({ name, count }) => `functions.${name}:${count}`,
  rules: [
    ...['temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty'].map((name) => ({
      demand: `${name} is fixed`,
      source: 'https://platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart',
      words: `invalid ${name}: only %s is allowed for this model`,
      find: (body: Body) =>
        body[name] === undefined || body[name] === fixed[name] ? undefined : fixed[name],
      breaks: { [name]: 0.3 },
      keeps: { [name]: fixed[name] },
    })),
    {
      demand: 'an effort does not go with the switch',
      source: 'https://github.com/HKUDS/nanobot/issues/3939',
      words: "cannot specify both 'thinking' and 'reasoning_effort'",
      find: (body) => ('thinking' in body && 'reasoning_effort' in body ? 0 : undefined),
      breaks: { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
      keeps: { thinking: { type: 'enabled' } },
    },
    {
      demand: 'no tool is forced while the model thinks',
      source: 'https://github.com/AstrBotDevs/AstrBot/issues/7805',
      words: "tool_choice '%s' is incompatible with thinking enabled",
      find: (body) => {
        const choice = thinks(body) ? findChoice(body, ['auto', 'none']) : undefined
        return choice === 'named' ? 'specified' : choice
      },
      breaks: { tools: [tool()], tool_choice: named },
      keeps: { tools: [tool()], tool_choice: named, thinking: { type: 'disabled' } },
    },
    {
      demand: 'each property of a schema has a type',
      source: 'https://github.com/earendil-works/pi/issues/5822',
      words:
        "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path '%s': type is not defined>",
      find: findUntyped,
      breaks: { tools: [tool('weather', { type: 'object', properties: { city: {} } })] },
      keeps: {
        tools: [tool('weather', { type: 'object', properties: { city: { type: 'string' } } })],
      },
    },
    {
      demand: 'names of tools have 64 letters, digits, _ and - at most',
      source: 'https://platform.moonshot.ai/docs/guide/use-kimi-api-to-complete-tool-calls',
      words:
        'Invalid request: function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes: %s',
      find: (body) => findName(body, /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/),
      breaks: { tools: [tool('n'.repeat(65))] },
      keeps: { tools: [tool('n'.repeat(64))] },
    },
    {
      demand: 'a content has no empty text part',
      source: 'https://github.com/MoonshotAI/kimi-cli',
      words: 'Invalid request: text content is empty',
      find: (body) =>
        findMessage(
          body,
          ({ content }) =>
            Array.isArray(content) && content.some((part) => part.type === 'text' && !part.text),
        ),
      breaks: { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      keeps: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
    },
    {
      demand: 'reasoning comes back with every call while the model thinks',
      source: 'https://github.com/n8n-io/n8n/issues/29142',
      words:
        'thinking is enabled but reasoning_content is missing in assistant tool call message at index %s',
      find: (body) =>
        thinks(body)
          ? findMessage(
              body,
              (message) =>
                listCalls(message).some((call) => isOwn(call.id)) &&
                typeof message['reasoning_content'] !== 'string',
            )
          : undefined,
      breaks: { messages: [user, calling({}, id), result(id)] },
      keeps: { messages: past },
    },
    {
      demand: 'reasoning comes back as it was',
      source: 'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) =>
        thinks(body) ? findChangedThoughts(body, 'reasoning_content', isOwn) : undefined,
      breaks: { messages: [user, calling({ reasoning_content: ' ' }, id), result(id)] },
      keeps: { messages: past },
    },
    {
      demand: 'ids of calls come back as they were',
      source: 'https://docs.vllm.ai/en/v0.26.0/features/tool_calling/',
      words: 'the id %s is not one of the model: it must be functions.NAME:N',
      effect: 'misread',
      find: ({ messages }) =>
        messages
          .flatMap(listCalls)
          .map((call) => call.id)
          .find((each) => each.startsWith('functions') && !isOwn(each)),
      breaks: {
        messages: [
          user,
          calling({ reasoning_content: thoughts }, 'functions_weather_0'),
          result('functions_weather_0'),
        ],
      },
      keeps: { messages: past },
    },
    {
      demand: 'reasoning has the name reasoning_content',
      source: 'https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model',
      words: 'the member reasoning of message %s is passed over',
      effect: 'misread',
      find: (body) => findMember(body, 'reasoning'),
      breaks: {
        messages: [user, { role: 'assistant', content: 'Yes.', reasoning: thoughts }, user],
      },
      keeps: { messages: [user, { role: 'assistant', content: 'Yes.' }, user] },
    },
  ],
}

function isOwn(given: string): boolean {
  return /^functions\..+:\d+$/.test(given)
}

/** On unless it is turned off. */
function thinks({ thinking }: Body): boolean {
  return (thinking as { readonly type?: unknown } | undefined)?.type !== 'disabled'
}
