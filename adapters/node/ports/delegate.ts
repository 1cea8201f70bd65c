/** Gives a light class the other members of the full object that it stands for, and creates on demand. */
export function delegateToFull<Full extends object>(
  light: { readonly full: Full },
  members: readonly (keyof Full)[],
): void {
  for (const name of members) {
    Object.defineProperty(light, name, {
      get(this: { readonly full: Full }) {
        const value: unknown = this.full[name]
        return typeof value === 'function' ? value.bind(this.full) : value
      },
    })
  }
}
