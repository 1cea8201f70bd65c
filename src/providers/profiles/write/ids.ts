import { blake3Hex } from '../../../wire/digest.ts'
import { listCalls, readId, type WrittenMessage } from './message.ts'

const validId = /^[a-zA-Z0-9]{9}$/
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Gives calls and their results ids of nine letters and digits. A valid id stays; another one always becomes
 * the same id, so that the upstream's cache of the prompt holds.
 */
export function useNineLetterIds(messages: readonly WrittenMessage[]): readonly WrittenMessage[] {
  const ids = new Map<string, string>()
  const taken = new Set(messages.flatMap(listIds).filter((id) => validId.test(id)))
  const shorten = (value: unknown) => {
    const id = readId(value)
    if (validId.test(id)) return id
    const known = ids.get(id)
    if (known !== undefined) return known
    let short = hashId(id)
    for (let copy = 2; taken.has(short); copy++) short = hashId(`${id} ${copy}`)
    ids.set(id, short)
    taken.add(short)
    return short
  }
  return messages.map((written) => {
    const { role, message } = written
    if (role === 'tool') {
      const id = shorten(message['tool_call_id'])
      return { ...written, message: { ...message, tool_call_id: id } }
    }
    const calls = listCalls(message)
    if (calls.length === 0) return written
    const renamed = calls.map((call) => ({ ...call, id: shorten(call['id']) }))
    return { ...written, message: { ...message, tool_calls: renamed } }
  })
}

function listIds({ message }: WrittenMessage): string[] {
  return listCalls(message).map(({ id }) => readId(id))
}

function hashId(id: string): string {
  let rest = BigInt(`0x${blake3Hex(id).slice(0, 16)}`)
  let short = ''
  for (let at = 0; at < 9; at++) {
    short += alphabet[Number(rest % 62n)]
    rest /= 62n
  }
  return short
}
