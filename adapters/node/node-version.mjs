// Read by every Node, however old, so it is plain JavaScript of an older time.

const minVersion = [20, 19]

/**
 * Why this version of Node cannot run the gateway; undefined when it can.
 * @param {string} version `18.20.8`
 */
export function findVersionProblem(version) {
  const [major, minor] = version.split('.').map(Number)
  const isOld = major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])
  if (!isOld) return undefined
  return `Model Gateway needs Node ${minVersion.join('.')} or newer, this is ${major}.${minor}`
}
