import type { Millis } from './ids.ts'

/** The order of those that wait: all of a class before any of the next one. */
export const priorities = ['high', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]

/** A limit of calls at once, and of the requests that wait for one of them to end. */
export interface RoomLimit {
  /** Names what is limited: the provider, or the provider and the model, in JSON. */
  readonly name: string
  readonly maxParallel: number
  readonly queueMax: number
  /** How long a request waits at most. */
  readonly queueTime: Millis
}

/** The limits that a call to a model takes a place of each of: that of its provider first. */
export type LinkRoom = readonly [RoomLimit, ...RoomLimit[]]

/** Writes the name of what is limited. */
export function nameRoom(provider: string, model?: string): string {
  return JSON.stringify(model === undefined ? [provider] : [provider, model])
}

/** Reads a name that `nameRoom` has written. */
export function readRoomName(name: string): readonly [provider: string, model?: string] {
  return JSON.parse(name)
}
