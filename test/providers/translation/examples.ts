import type { Feature } from '../../../src/providers/translation/table.ts'

/** A request that uses a feature, and the same request without it. */
export interface Example {
  readonly fields: object
  /** Empty by default. */
  readonly without?: object
  /** The path in errors. */
  readonly param?: string
}

const question = { role: 'user', content: 'Hi' }
const look = { type: 'text', text: 'Look' }
const png = 'data:image/png;base64,iVBORw0KGgo='
const wav = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const openXml = 'application/vnd.openxmlformats-officedocument'

/** An example with one field. */
const field = (name: string, value: unknown): Example => ({
  fields: { [name]: value },
  param: name,
})

const fn = (definition: object = {}) => ({
  type: 'function',
  function: { name: 'f', ...definition },
})
const closed = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const schema = { name: 'answer', schema: closed }

const offering = (definition: object, param: string): Example => ({
  fields: { tools: [fn(definition)] },
  without: { tools: [fn({ parameters: (definition as { parameters?: object }).parameters })] },
  param: `tools.0.function.${param}`,
})

/** An example with a member of a tool beside its function. */
const equipping = (member: string, value: unknown): Example => ({
  fields: { tools: [{ ...fn(), [member]: value }] },
  without: { tools: [fn()] },
  param: `tools.0.${member}`,
})

/** An example with a choice between two functions. */
const choosing = (tool_choice: unknown, fields: object = {}): Example => {
  const tools = [fn(), fn({ name: 'g' })]
  return {
    fields: { tools, tool_choice, ...fields },
    without: { tools, ...fields },
    param: 'tool_choice',
  }
}

const messages = (...list: readonly object[]) => ({ messages: list })
const f = (more: object = {}) => ({
  id: 'c1',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
  ...more,
})
const calling = (...tool_calls: readonly object[]) => ({
  role: 'assistant',
  content: null,
  tool_calls,
})
const result = (content: unknown) => ({ role: 'tool', tool_call_id: 'c1', content })

/** An example with the texts of an earlier answer as the vendor's blocks. */
const carrying = (family: string, members: object = {}): Example =>
  answering(
    {
      provider_content: {
        family,
        content: [
          { ...members, text: 'S' },
          { ...members, text: 'o' },
        ],
      },
    },
    'provider_content',
  )

/** An example with an earlier answer that has more than text. */
const answering = (members: object, param: string): Example => ({
  fields: messages(question, { role: 'assistant', content: 'So', ...members }, question),
  without: messages(question, { role: 'assistant', content: 'So' }, question),
  param: `messages.1.${param}`,
})

const calls = (call: object, param: string): Example => ({
  fields: messages(question, calling(call), result('x')),
  without: messages(
    question,
    calling(f({ function: { name: 'f', arguments: '{}' } })),
    result('x'),
  ),
  param: `messages.1.tool_calls.0.function.${param}`,
})

/** An example with a part in a user message. */
const showing = (part: object, member = ''): Example => ({
  fields: messages({ role: 'user', content: [look, part] }),
  without: messages({ role: 'user', content: [look] }),
  param: `messages.0.content.1${member}`,
})
const image = (url: string): Example =>
  showing({ type: 'image_url', image_url: { url } }, '.image_url')
const file = (members: object, member = ''): Example =>
  showing({ type: 'file', file: members }, member)
const data = (type: string) => `data:${type};base64,aGVsbG8=`

export const examples: Readonly<Record<Feature, Example>> = {
  max_completion_tokens: field('max_completion_tokens', 77),
  max_tokens: field('max_tokens', 77),
  temperature: field('temperature', 0.5),
  'temperature of 1': field('temperature', 1),
  'temperature above 1': field('temperature', 1.5),
  top_p: field('top_p', 0.5),
  'top_p of 0.99 and above': field('top_p', 0.99),
  'top_p beside temperature': {
    fields: { temperature: 1, top_p: 0.5 },
    without: { temperature: 1 },
    param: 'top_p',
  },
  'top_p of 0.99 and above beside temperature': {
    fields: { temperature: 1, top_p: 0.99 },
    without: { temperature: 1 },
    param: 'top_p',
  },
  top_k: field('top_k', 5),
  frequency_penalty: field('frequency_penalty', 0.5),
  'frequency_penalty below 0 or above 1': field('frequency_penalty', -0.5),
  presence_penalty: field('presence_penalty', 0.5),
  'presence_penalty below 0 or above 1': field('presence_penalty', 1.5),
  seed: field('seed', 7),
  'seed below 0': field('seed', -7),
  stop: field('stop', ['END']),
  'stop that is white space': field('stop', [' ']),
  'n above 1': field('n', 2),
  logit_bias: field('logit_bias', { 50256: -100 }),
  'logprobs: true': field('logprobs', true),
  top_logprobs: {
    fields: { logprobs: true, top_logprobs: 2 },
    without: { logprobs: true },
    param: 'top_logprobs',
  },
  'top_logprobs without logprobs': field('top_logprobs', 2),

  'response_format: json_object': field('response_format', { type: 'json_object' }),
  'response_format: json_schema': field('response_format', {
    type: 'json_schema',
    json_schema: schema,
  }),
  'response_format: json_schema without a schema': field('response_format', {
    type: 'json_schema',
    json_schema: { name: 'answer' },
  }),
  'response_format beside tools': {
    fields: { tools: [fn()], response_format: { type: 'json_schema', json_schema: schema } },
    without: { tools: [fn()] },
    param: 'response_format',
  },
  'response_format of another type': field('response_format', { type: 'grammar' }),
  'modalities: image, audio': field('modalities', ['text', 'image']),
  'modalities other than text, image, audio': field('modalities', ['text', 'smell']),
  audio: field('audio', { voice: 'alloy', format: 'wav' }),
  prediction: field('prediction', { type: 'content', content: 'x' }),
  'verbosity other than medium': field('verbosity', 'low'),
  web_search_options: field('web_search_options', {}),
  'web_search_options beside functions': {
    fields: { tools: [fn()], web_search_options: {} },
    without: { tools: [fn()] },
    param: 'web_search_options',
  },
  'web_search_options.user_location': {
    fields: {
      web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Oslo' } } },
    },
    without: { web_search_options: {} },
    param: 'web_search_options.user_location',
  },
  'web_search_options.search_context_size other than medium': {
    fields: { web_search_options: { search_context_size: 'low' } },
    without: { web_search_options: {} },
    param: 'web_search_options.search_context_size',
  },
  'reasoning_effort: none': field('reasoning_effort', 'none'),
  'reasoning_effort: high': field('reasoning_effort', 'high'),
  'reasoning_effort: minimal, low, medium, xhigh, max': field('reasoning_effort', 'low'),
  'reasoning_effort with another value': field('reasoning_effort', 'extreme'),

  'tools: a function': { fields: { tools: [fn()] } },
  'function.description': offering({ description: 'Does it.' }, 'description'),
  'function.parameters': {
    fields: { tools: [fn({ parameters: closed })] },
    without: { tools: [fn()] },
  },
  'function.strict': offering({ parameters: closed, strict: true }, 'strict'),
  'function.strict with an open object in its parameters': offering(
    { parameters: { type: 'object', properties: {} }, strict: true },
    'strict',
  ),
  'function.strict with a map in its parameters': offering(
    {
      parameters: { ...closed, properties: { a: { type: 'object', additionalProperties: true } } },
      strict: true,
    },
    'strict',
  ),
  'function.strict of some functions only': {
    fields: { tools: [fn({ parameters: closed, strict: true }), fn({ name: 'g' })] },
    without: { tools: [fn({ parameters: closed }), fn({ name: 'g' })] },
    param: 'tools.0.function.strict',
  },
  'function.name other than 1 to 64 letters, digits, _ and -': {
    fields: { tools: [fn({ name: 'get the weather' })] },
    without: { tools: [fn()] },
    param: 'tools.0.function.name',
  },
  'tools: one that Anthropic runs': {
    fields: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] },
    without: { tools: [] },
    param: 'tools.0',
  },
  "tools: one of Anthropic's that the client runs": {
    fields: { tools: [{ type: 'bash_20250124', name: 'bash' }] },
    without: { tools: [] },
    param: 'tools.0',
  },
  "tools: one of Google's": {
    fields: { tools: [{ google_search: {} }] },
    without: { tools: [] },
    param: 'tools.0',
  },
  'tools: a system tool of AWS': {
    fields: { tools: [{ systemTool: { name: 'nova_grounding' } }] },
    without: { tools: [] },
    param: 'tools.0',
  },
  'tools of another type': {
    fields: { tools: [{ type: 'web_search' }] },
    without: { tools: [] },
    param: 'tools.0',
  },
  'functions (legacy)': { fields: { functions: [{ name: 'f' }] } },
  'tool_choice: auto': choosing('auto'),
  'tool_choice: none': choosing('none'),
  'tool_choice: none after calls': choosing('none', messages(question, calling(f()), result('x'))),
  'tool_choice: required': choosing('required'),
  'tool_choice: a function': choosing({ type: 'function', function: { name: 'g' } }),
  'tool_choice: a function that is not in tools': choosing({
    type: 'function',
    function: { name: 'h' },
  }),
  'tool_choice: allowed_tools, auto': choosing({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [fn({ name: 'g' })] },
  }),
  'tool_choice: allowed_tools, required': choosing({
    type: 'allowed_tools',
    allowed_tools: { mode: 'required', tools: [fn({ name: 'g' })] },
  }),
  'tool_choice: custom': choosing({ type: 'custom', custom: { name: 'c' } }),
  'tool_choice with another value': choosing('sometimes'),
  'tool_choice without tools': { fields: { tool_choice: 'required' } },
  'function_call with another value (legacy)': {
    fields: { functions: [{ name: 'f' }], function_call: 'sometimes' },
    without: { functions: [{ name: 'f' }] },
    param: 'function_call',
  },
  'parallel_tool_calls: false': {
    fields: { tools: [fn()], parallel_tool_calls: false },
    without: { tools: [fn()] },
    param: 'parallel_tool_calls',
  },
  'parallel_tool_calls: false without tools to call': field('parallel_tool_calls', false),

  'role: system, developer': {
    fields: messages({ role: 'developer', content: 'Be brief.' }, question),
    without: messages(question),
  },
  'role: user': {
    fields: messages({ role: 'user', content: 'Hello?' }),
    without: messages(question),
  },
  'role: assistant': {
    fields: messages(question, { role: 'assistant', content: 'Hello.' }, question),
    without: messages(question),
  },
  'role: tool': {
    fields: messages(question, calling(f()), result('sunny')),
    without: messages(question, calling(f()), result('x')),
  },
  'role: function (legacy)': {
    fields: messages(
      question,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'sunny' },
    ),
    without: messages(
      question,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'x' },
    ),
  },
  'tool message without a matching call': {
    fields: messages(question, { ...result('x'), tool_call_id: 'c2' }),
    without: messages(question),
    param: 'messages.1.tool_call_id',
  },
  'name of a message': {
    fields: messages({ ...question, name: 'Ann' }),
    without: messages(question),
  },
  refusal: {
    fields: messages(question, { role: 'assistant', content: null, refusal: 'No.' }, question),
    without: messages(question, { role: 'assistant', content: 'So' }, question),
  },
  reasoning_content: answering({ reasoning_content: 'Hm.' }, 'reasoning_content'),
  'reasoning_content beside calls': {
    fields: messages(question, { ...calling(f()), reasoning_content: 'Hm.' }, result('x')),
    without: messages(question, calling(f()), result('x')),
  },
  thinking_blocks: answering(
    { thinking_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }] },
    'thinking_blocks',
  ),
  'provider_content of the family anthropic': carrying('anthropic', { type: 'text' }),
  'provider_content of the family google': carrying('google'),
  'provider_content of the family bedrock': carrying('bedrock'),
  'provider_content of the family cohere': carrying('cohere', { type: 'text' }),
  'extra_content.google.thought_signature': answering(
    { extra_content: { google: { thought_signature: 'c2ln' } } },
    'extra_content',
  ),
  'images of an answer': answering(
    { images: [{ type: 'image_url', image_url: { url: png } }] },
    'images',
  ),
  'audio of an answer, with its data': answering(
    { audio: { data: 'AAAA', mime_type: 'audio/wav' } },
    'audio',
  ),
  'audio of an answer, by its id': answering({ audio: { id: 'audio_1' } }, 'audio'),
  tool_calls: calls(f(), ''),
  'arguments as an object': calls(f({ function: { name: 'f', arguments: { a: 1 } } }), ''),
  'arguments that are not a JSON object': calls(
    f({ function: { name: 'f', arguments: '{"a":' } }),
    'arguments',
  ),
  'call of a custom tool': calls(
    { id: 'c1', type: 'custom', custom: { name: 'f', input: 'go' } },
    '',
  ),
  'call with a name other than 1 to 64 letters, digits, _ and -': calls(
    f({ function: { name: 'get it', arguments: '{}' } }),
    'name',
  ),
  'function_call of an answer (legacy)': {
    fields: messages(
      question,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'x' },
    ),
    without: messages(
      question,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'x' },
    ),
  },
  cache_control: {
    fields: messages({
      role: 'user',
      content: [{ ...look, cache_control: { type: 'ephemeral' } }],
    }),
    without: messages({ role: 'user', content: [look] }),
  },

  text: showing({ type: 'text', text: 'and see' }),
  'refusal part': {
    fields: messages(
      question,
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      question,
    ),
    without: messages(question, { role: 'assistant', content: 'So' }, question),
  },
  'image_url with a JPEG, PNG, GIF or WebP': image(png),
  'image_url with a PDF': image(data('application/pdf')),
  'image_url with a text or an office document': image(data('text/csv')),
  'image_url with data of another type': image(data('image/svg+xml')),
  'image_url with data that is not base64': image('data:image/png,x'),
  'image_url with an http(s) address': image('https://example.com/cat.png'),
  'image_url with a file of Anthropic': image('anthropic-file:f1'),
  'image_url with a file of Google': image('gs://bucket/cat.png'),
  'image_url with another text': image('cat.png'),
  'image_url.detail with another value': {
    fields: messages({
      role: 'user',
      content: [look, { type: 'image_url', image_url: { url: png, detail: 'original' } }],
    }),
    without: messages({
      role: 'user',
      content: [look, { type: 'image_url', image_url: { url: png } }],
    }),
    param: 'messages.0.content.1.image_url.detail',
  },
  'image_url.detail': {
    fields: messages({
      role: 'user',
      content: [look, { type: 'image_url', image_url: { url: png, detail: 'low' } }],
    }),
    without: messages({
      role: 'user',
      content: [look, { type: 'image_url', image_url: { url: png } }],
    }),
  },
  'file with a PDF': file({ file_data: data('application/pdf') }),
  'file with a video': file({ file_data: data('video/mp4') }),
  'file with plain text': file({ file_data: data('text/plain') }),
  'file with another text or an office document': file({
    file_data: data(`${openXml}.spreadsheetml.sheet`),
  }),
  'file of another type whose filename has a document extension': file({
    file_data: data('application/octet-stream'),
    filename: 'a.md',
  }),
  'file of another type': file({ file_data: data('application/zip'), filename: 'a.zip' }),
  'file without a media type': file({ file_data: data('') }, '.file'),
  'file without a media type whose filename has a document extension': file({
    file_data: data(''),
    filename: 'a.csv',
  }),
  'file whose file_data is not a base64 data URI': file(
    { file_data: 'aGVsbG8=' },
    '.file.file_data',
  ),
  'file with an https address': file({ file_data: 'https://example.com/a.pdf' }, '.file'),
  'file with a file_id': file({ file_id: 'file-1' }),
  'file at S3': file({ file_id: 's3://bucket/a.pdf' }),
  'video_url with an https address': showing({
    type: 'video_url',
    video_url: { url: 'https://example.com/a.mp4' },
  }),
  'file of Google': file({ file_id: 'gs://bucket/a.pdf' }),
  'file without file_data and file_id': file({ filename: 'a.pdf' }, '.file'),
  input_audio: showing(wav),
  guarded_text: showing({ type: 'guarded_text', text: 'Is it legal?' }),
  'guarded_text in an answer or a tool message': {
    fields: messages(
      question,
      calling(f()),
      result([look, { type: 'guarded_text', text: 'Is it legal?' }]),
    ),
    without: messages(question, calling(f()), result([look])),
    param: 'messages.2.content.1',
  },
  'part of another type': showing({ type: 'hologram' }),
  'part other than text in instructions': {
    fields: messages(
      { role: 'system', content: [look, { type: 'image_url', image_url: { url: png } }] },
      question,
    ),
    param: 'messages.0.content.1',
  },
  'part other than text in an answer': {
    fields: messages(
      question,
      { role: 'assistant', content: [look, { type: 'image_url', image_url: { url: png } }] },
      question,
    ),
    without: messages(question, { role: 'assistant', content: [look] }, question),
    param: 'messages.1.content.1',
  },
  'part other than text in a tool message': {
    fields: messages(
      question,
      calling(f()),
      result([look, { type: 'image_url', image_url: { url: png } }]),
    ),
    without: messages(question, calling(f()), result([look])),
    param: 'messages.2.content.1',
  },

  model: { fields: {} },
  stream: { fields: { stream: true } },
  stream_options: {
    fields: { stream: true, stream_options: { include_usage: true } },
    without: { stream: true },
  },
  'store: true': field('store', true),
  'metadata.user_id': { fields: { metadata: { user_id: 'u-1' } }, param: 'metadata' },
  'metadata other than user_id': { fields: { metadata: { team: 'x' } }, param: 'metadata' },
  user: field('user', 'u-1'),
  safety_identifier: field('safety_identifier', 'u-1'),
  'service_tier: auto': field('service_tier', 'auto'),
  'service_tier: default': field('service_tier', 'default'),
  'service_tier: flex, priority': field('service_tier', 'flex'),
  'service_tier: standard_only': field('service_tier', 'standard_only'),
  'service_tier with another value': field('service_tier', 'scale'),
  prompt_cache_key: field('prompt_cache_key', 'k'),
  prompt_cache_retention: field('prompt_cache_retention', '24h'),
  prompt_cache_options: field('prompt_cache_options', { mode: 'x' }),
  moderation: field('moderation', { mode: 'x' }),
  'a field that is not listed here': field('wishful', true),

  thinking: field('thinking', { type: 'enabled', budget_tokens: 2000 }),
  output_config: field('output_config', { effort: 'low' }),
  context_management: field('context_management', {
    edits: [{ type: 'clear_tool_uses_20250919' }],
  }),
  anthropic_beta: field('anthropic_beta', ['context-1m-2025-08-07']),
  'cache_control of the whole request': field('cache_control', { type: 'ephemeral' }),
  container: field('container', 'container_1'),
  mcp_servers: field('mcp_servers', [{ type: 'url', name: 's', url: 'https://mcp.example.com' }]),
  'defer_loading of a tool': equipping('defer_loading', true),
  'input_examples of a tool': equipping('input_examples', [{ city: 'Oslo' }]),
  'allowed_callers of a tool': equipping('allowed_callers', ['direct']),
  'is_error of a tool message': {
    fields: messages(question, calling(f()), { ...result('x'), is_error: true }),
    without: messages(question, calling(f()), result('x')),
    param: 'messages.2.is_error',
  },
  thinking_config: field('thinking_config', { thinking_budget: 100 }),
  safety_settings: field('safety_settings', [
    { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' },
  ]),
  cached_content: field('cached_content', 'cachedContents/c1'),
  labels: field('labels', { team: 'x' }),
  guardrail_config: field('guardrail_config', {
    guardrail_identifier: 'g',
    guardrail_version: '1',
  }),
  performance_config: field('performance_config', { latency: 'optimized' }),
  request_metadata: field('request_metadata', { team: 'x' }),
  documents: field('documents', [{ id: 'd1', data: { text: 'Foxes are red.' } }]),
  citation_options: field('citation_options', { mode: 'FAST' }),
  safety_mode: field('safety_mode', 'STRICT'),
  additional_model_request_fields: field('additional_model_request_fields', { mood: 'calm' }),
  image_config: field('image_config', { aspect_ratio: '16:9' }),
  media_resolution: field('media_resolution', 'MEDIA_RESOLUTION_LOW'),
}
