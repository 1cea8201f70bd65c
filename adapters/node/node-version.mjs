// Every version of Node.js must be able to parse this file, so it uses old syntax only.

const minVersion = [20, 19]

/**
 * Returns why this version of Node.js cannot run the gateway, or undefined when it can.
 * @param {string} version for example `18.20.8`
 */
export function findVersionProblem(version) {
  const [major, minor] = version.split('.').map(Number)
  const isOld = major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])
  if (!isOld) return undefined
  return `Model Gateway requires Node.js ${minVersion.join('.')} or newer; this is ${major}.${minor}`
}
