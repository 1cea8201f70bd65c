// Read by every Node, however old, so it is plain JavaScript of an older time.

const oldest = [20, 19]

/**
 * Why this version of Node cannot run the gateway; undefined when it can.
 * @param {string} version `18.20.8`
 */
export function problemOfNode(version) {
  const [major, minor] = version.split('.').map(Number)
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1])
  if (!isOld) return undefined
  return `Model Gateway needs Node ${oldest.join('.')} or newer, this is ${major}.${minor}`
}
