import { isObject } from './parse.ts'

/**
 * True for equal JSON values; the order of members does not count. A number that JavaScript cannot hold
 * equals `null`, because clients write it so.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, index) => isSameJson(item, other[index]))
  }
  if (!isObject(one)) return toFinite(one) === toFinite(other)
  const names = Object.keys(one)
  if (!isObject(other) || names.length !== Object.keys(other).length) return false
  return names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
}

function toFinite(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}
