import {
  carried,
  dropped,
  except,
  ignored,
  inEveryApi,
  mapped,
  refused,
  type TranslationRows,
  weakened,
} from '../cell.ts'

const declaration = 'tools.0.functionDeclarations.0'
const spec = 'toolConfig.tools.0.toolSpec'
const calling = 'toolConfig.functionCallingConfig'
const validated = mapped(`${calling}.mode`, 'mode `VALIDATED`, for all functions')
/** Where the API does not accept the name: each has its own rule. */
const renamed = 'a short name where the API refuses it, restored in answers'
const onlyThese = 'only these are offered; no call is forced'

/** Functions, and the choice among them. */
export const tools = {
  'tools: a function': {
    anthropic: mapped('tools.0.name'),
    gemini: mapped(`${declaration}.name`, '`functionDeclarations`'),
    bedrock: mapped(`${spec}.name`, '`toolSpec`'),
    cohere: carried('tools.0.function.name'),
  },
  'function.description': {
    anthropic: mapped('tools.0.description'),
    gemini: mapped(`${declaration}.description`, '`description`'),
    bedrock: mapped(`${spec}.description`, '`description`'),
    cohere: carried('tools.0.function.description'),
  },
  'function.parameters': {
    anthropic: mapped('tools.0.input_schema', '`input_schema`'),
    gemini: mapped(`${declaration}.parameters`, '`parameters` or `parametersJsonSchema`'),
    bedrock: mapped(`${spec}.inputSchema.json`, '`inputSchema.json`'),
    cohere: carried('tools.0.function.parameters'),
  },
  'function.strict': {
    anthropic: except(mapped('tools.0.strict'), { noSchemas: dropped }),
    gemini: validated,
    bedrock: except(mapped(`${spec}.strict`, '`strict`'), { noSchemas: dropped }),
    cohere: mapped('strict_tools'),
  },
  'function.strict with an open object in its parameters': {
    anthropic: mapped('tools.0.strict'),
    gemini: validated,
    bedrock: dropped,
    cohere: mapped('strict_tools'),
  },
  'function.strict with a map in its parameters': {
    anthropic: dropped,
    gemini: validated,
    bedrock: dropped,
    cohere: mapped('strict_tools'),
  },
  'function.strict of some functions only': {
    anthropic: mapped('tools.0.strict'),
    gemini: validated,
    bedrock: mapped(`${spec}.strict`, '`strict`'),
    cohere: dropped,
  },
  'function.name other than 1 to 64 letters, digits, _ and -': {
    anthropic: mapped('tools.0.name', renamed),
    gemini: mapped(`${declaration}.name`, renamed),
    bedrock: mapped(`${spec}.name`, renamed),
    cohere: mapped('tools.0.function.name', renamed),
  },
  'tools: one that Anthropic runs': {
    anthropic: mapped('tools.0', 'as it is'),
    gemini: dropped,
    bedrock: dropped,
    cohere: dropped,
  },
  "tools: one of Anthropic's that the client runs": {
    anthropic: mapped('tools.0', 'as it is'),
    gemini: dropped,
    bedrock: except(mapped('additionalModelRequestFields.tools.0', 'as it is'), {
      notClaude: dropped,
    }),
    cohere: dropped,
  },
  "tools: one of Google's": {
    anthropic: dropped,
    gemini: mapped('tools.0', 'as it is'),
    bedrock: dropped,
    cohere: dropped,
  },
  'tools: a system tool of AWS': {
    anthropic: dropped,
    gemini: dropped,
    bedrock: mapped('toolConfig.tools.0', 'as it is'),
    cohere: dropped,
  },
  'tools of another type': inEveryApi(dropped),
  'functions (legacy)': {
    anthropic: mapped('tools.0.name'),
    gemini: mapped(`${declaration}.name`, '`functionDeclarations`'),
    bedrock: mapped(`${spec}.name`, '`toolSpec`'),
    cohere: mapped('tools.0.function.name'),
  },
  'tool_choice: auto': {
    anthropic: mapped('tool_choice.type'),
    gemini: ignored,
    bedrock: except(mapped('toolConfig.toolChoice.auto'), { noAutoChoice: ignored }),
    cohere: ignored,
  },
  'tool_choice: none': {
    anthropic: mapped('tool_choice.type'),
    gemini: mapped(`${calling}.mode`, 'mode `NONE`'),
    bedrock: mapped('toolConfig', 'no tools are sent'),
    cohere: mapped('tool_choice', '`NONE`'),
  },
  'tool_choice: none after calls': {
    anthropic: mapped('tool_choice.type'),
    gemini: mapped(`${calling}.mode`, 'mode `NONE`'),
    bedrock: weakened('the tools are still sent'),
    cohere: mapped('tool_choice', '`NONE`'),
  },
  'tool_choice: required': {
    anthropic: except(mapped('tool_choice.type', '`any`'), {
      noForcedCalls: weakened('`auto` is sent'),
    }),
    gemini: mapped(`${calling}.mode`, 'mode `ANY`'),
    bedrock: except(mapped('toolConfig.toolChoice.any', '`any`'), {
      noForcedCalls: weakened('`auto` is sent'),
      noAnyChoice: dropped,
    }),
    cohere: mapped('tool_choice', '`REQUIRED`'),
  },
  'tool_choice: a function': {
    anthropic: except(mapped('tool_choice.name', '`tool`'), {
      noForcedCalls: weakened(onlyThese),
    }),
    gemini: mapped(`${calling}.allowedFunctionNames`, 'mode `ANY`, its name'),
    bedrock: except(mapped('toolConfig.toolChoice.tool', '`tool`'), {
      noForcedCalls: weakened(onlyThese),
      noNamedChoice: dropped,
    }),
    cohere: { ...ignored, remark: 'the model may call any function' },
  },
  'tool_choice: a function that is not in tools': {
    anthropic: mapped('tool_choice.name', '`tool`'),
    gemini: refused,
    bedrock: mapped('toolConfig.toolChoice.tool', '`tool`'),
    cohere: ignored,
  },
  'tool_choice: allowed_tools, auto': {
    anthropic: mapped('tools', 'only these are sent'),
    gemini: mapped('tools.0.functionDeclarations', 'only these are sent'),
    bedrock: mapped('toolConfig.tools', 'only these are sent'),
    cohere: { ...ignored, remark: 'the model may call any function' },
  },
  'tool_choice: allowed_tools, required': {
    anthropic: except(mapped('tool_choice.type', '`any` of these'), {
      noForcedCalls: weakened(onlyThese),
    }),
    gemini: mapped(`${calling}.allowedFunctionNames`, 'mode `ANY`, their names'),
    bedrock: except(mapped('toolConfig.toolChoice.any', '`any` of these'), {
      noForcedCalls: weakened(onlyThese),
      noAnyChoice: weakened(onlyThese),
    }),
    cohere: { ...ignored, remark: 'the model may call any function' },
  },
  'tool_choice: custom': inEveryApi(dropped),
  'tool_choice with another value': inEveryApi(dropped),
  'tool_choice without tools': inEveryApi(ignored),
  'function_call with another value (legacy)': inEveryApi(dropped),
  'parallel_tool_calls: false': {
    anthropic: mapped('tool_choice.disable_parallel_tool_use', '`disable_parallel_tool_use`'),
    gemini: dropped,
    bedrock: except(
      mapped('additionalModelRequestFields.tool_choice', '`disable_parallel_tool_use`'),
      { notClaude: dropped },
    ),
    cohere: dropped,
  },
  'parallel_tool_calls: false without tools to call': {
    anthropic: ignored,
    gemini: dropped,
    bedrock: ignored,
    cohere: dropped,
  },
} as const satisfies TranslationRows
