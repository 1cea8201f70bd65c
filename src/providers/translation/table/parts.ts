import {
  carried,
  dropped,
  except,
  ignored,
  inEveryApi,
  mapped,
  refused,
  refusedAddress,
  refusedAllBut,
  refusedReference,
  type TranslationOutcome,
  type TranslationRows,
} from '../cell.ts'

const claude = 'messages.0.content.1'
const gemini = 'contents.0.parts.1'
const inline = mapped(`${gemini}.inlineData`, '`inlineData`')
const stored = mapped(`${gemini}.fileData`, '`fileData`')
const fetched = mapped(`${gemini}.fileData`, 'the vendor fetches it, https only')

/** A `document` block of Claude's API with this source. */
const document = (source: string): TranslationOutcome =>
  mapped(`${claude}.source`, `a \`document\`, ${source}`)
const converse = (block: 'image' | 'video' | 'document'): TranslationOutcome =>
  mapped(`${claude}.${block}`, `${block === 'image' ? 'an' : 'a'} \`${block}\``)

const claudeImages = refusedAllBut('JPEG, PNG, GIF, WebP and PDF')
const claudeFiles = refusedAllBut('PDF and plain text')
const converseImages = refusedAllBut('JPEG, PNG, GIF, WebP and documents')
const converseFiles = refusedAllBut('videos, PDF, CSV, DOC, DOCX, XLS, XLSX, HTML, TXT and MD')

/** The parts of a message's content. Parts of user messages have a row for each type. */
export const parts = {
  text: {
    anthropic: mapped(`${claude}.text`, 'except white space'),
    gemini: mapped(`${gemini}.text`, 'except empty text'),
    bedrock: mapped(`${claude}.text`, 'except white space'),
    cohere: carried(claude),
  },
  'refusal part': {
    anthropic: mapped('messages.1.content', 'text'),
    gemini: mapped('contents.1.parts.0.text', 'text'),
    bedrock: mapped('messages.1.content.0.text', 'text'),
    cohere: mapped('messages.1.content', 'text'),
  },
  'image_url with a JPEG, PNG, GIF or WebP': {
    anthropic: mapped(`${claude}.source`, 'an `image`'),
    gemini: inline,
    bedrock: converse('image'),
    cohere: carried(claude),
  },
  'image_url with a PDF': {
    anthropic: document('`base64`'),
    gemini: inline,
    bedrock: converse('document'),
    cohere: carried(claude),
  },
  'image_url with a text or an office document': {
    anthropic: claudeImages,
    gemini: inline,
    bedrock: converse('document'),
    cohere: carried(claude),
  },
  'image_url with data of another type': {
    anthropic: claudeImages,
    gemini: inline,
    bedrock: converseImages,
    cohere: carried(claude),
  },
  'image_url with data that is not base64': {
    anthropic: refused,
    gemini: refused,
    bedrock: refused,
    cohere: carried(claude, 'the vendor answers 400'),
  },
  'image_url with an http(s) address': {
    anthropic: mapped(`${claude}.source`, 'the vendor fetches it'),
    gemini: except(refusedAddress, { fetchedByGoogle: fetched }),
    bedrock: refusedAddress,
    cohere: carried(claude, 'the vendor fetches it'),
  },
  'image_url with a file of Anthropic': {
    anthropic: mapped(`${claude}.source`, 'its `file_id`'),
    gemini: refusedReference,
    bedrock: refusedReference,
    cohere: refusedReference,
  },
  'image_url with a file of Google': {
    anthropic: refusedReference,
    gemini: stored,
    bedrock: refusedReference,
    cohere: refusedReference,
  },
  'image_url with another text': {
    anthropic: refused,
    gemini: refused,
    bedrock: refused,
    cohere: carried(claude, 'the vendor answers 400'),
  },
  'image_url.detail': {
    anthropic: ignored,
    gemini: ignored,
    bedrock: ignored,
    cohere: carried(`${claude}.image_url.detail`),
  },
  'image_url.detail with another value': {
    anthropic: ignored,
    gemini: ignored,
    bedrock: ignored,
    cohere: dropped,
  },
  'file with a PDF': {
    anthropic: document('`base64`'),
    gemini: inline,
    bedrock: converse('document'),
    cohere: refused,
  },
  'file with a video': {
    anthropic: claudeFiles,
    gemini: inline,
    bedrock: converse('video'),
    cohere: refused,
  },
  'file with plain text': {
    anthropic: document('`text`'),
    gemini: inline,
    bedrock: converse('document'),
    cohere: refused,
  },
  'file with another text or an office document': {
    anthropic: claudeFiles,
    gemini: inline,
    bedrock: converse('document'),
    cohere: refused,
  },
  'file of another type whose filename has a document extension': {
    anthropic: claudeFiles,
    gemini: inline,
    bedrock: converse('document'),
    cohere: refused,
  },
  'file of another type': {
    anthropic: claudeFiles,
    gemini: inline,
    bedrock: converseFiles,
    cohere: refused,
  },
  'file without a media type': inEveryApi(refused),
  'file without a media type whose filename has a document extension': {
    anthropic: claudeFiles,
    gemini: refused,
    bedrock: { ...converse('document'), remark: 'a `document`, by its `filename`' },
    cohere: refused,
  },
  'file whose file_data is not a base64 data URI': inEveryApi(refused),
  'file with an https address': {
    anthropic: document('the vendor fetches it'),
    gemini: except(refused, { fetchedByGoogle: fetched }),
    bedrock: refused,
    cohere: refused,
  },
  'file with a file_id': {
    anthropic: document('its `file_id`'),
    gemini: refused,
    bedrock: refused,
    cohere: refused,
  },
  'file at S3': {
    anthropic: refused,
    gemini: refused,
    bedrock: {
      ...converse('document'),
      remark: 'an `image`, a `video` or a `document`, by its extension',
    },
    cohere: refused,
  },
  'video_url with an https address': {
    anthropic: refused,
    gemini: except(refused, { fetchedByGoogle: fetched }),
    bedrock: refused,
    cohere: refused,
  },
  'file of Google': {
    anthropic: refused,
    gemini: stored,
    bedrock: refused,
    cohere: refused,
  },
  'file without file_data and file_id': inEveryApi(refused),
  input_audio: {
    anthropic: refused,
    gemini: inline,
    bedrock: refused,
    cohere: refused,
  },
  guarded_text: {
    anthropic: refused,
    gemini: refused,
    bedrock: mapped(`${claude}.guardContent`, 'a `guardContent`'),
    cohere: refused,
  },
  'guarded_text in an answer or a tool message': inEveryApi(refused),
  'part of another type': inEveryApi(refused),
  'part other than text in instructions': inEveryApi(refused),
  'part other than text in an answer': {
    anthropic: refused,
    gemini: mapped('contents.1.parts.1.inlineData', 'as in a `user` message'),
    bedrock: refused,
    cohere: refused,
  },
  'part other than text in a tool message': {
    anthropic: mapped('messages.2.content.0.content.1', 'in the `tool_result`'),
    gemini: except(
      mapped('contents.2.parts.0.functionResponse.parts', 'in the `functionResponse`'),
      { textResults: refused },
    ),
    bedrock: except(mapped('messages.2.content.0.toolResult.content.1', 'in the `toolResult`'), {
      noResultMedia: mapped('messages.2.content.2', 'in the `user` message, behind the results'),
    }),
    cohere: refused,
  },
} as const satisfies TranslationRows
