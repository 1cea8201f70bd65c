import { isObject } from '../../wire/json/parse.ts'
import type { CanonicalRequest } from './request.ts'

/**
 * Returns the path of the field with a wish about thinking that cannot be said to the model. Empty where the
 * translation table judges the field: an effort, and all fields of a chat request.
 */
export function listLostWish({ isMade, raw, thinking: wish }: CanonicalRequest): readonly string[] {
  if (!isMade) return []
  if (!isObject(raw['thinking'])) return wish.kind === 'off' ? ['reasoning_effort'] : []
  const isEffort = wish.kind === 'on' && wish.effort !== undefined && wish.budget === undefined
  return isEffort ? [] : ['thinking']
}
