/** Sets a member as `JSON.parse` does: an assignment would set the prototype for the name `__proto__`. */
export function defineMember(members: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') members[name] = value
  else
    Object.defineProperty(members, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
}
