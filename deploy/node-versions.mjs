/*
 * The versions of Node that Tollgate runs on, read from `engines` of package.json, which npm reads too. Plain JavaScript
 * without imports of packages, because it runs before they exist.
 */
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** One for each supported line, as [major, lowest minor], lowest first. */
export const supportedLines = engines.node.split('||').map((range) => {
  const [, major, minor] = /^\^(\d+)\.(\d+)\.0$/.exec(range.trim())
  return [Number(major), Number(minor)]
})

/** The line that the image runs on and that the docs recommend. */
const recommendedMajor = 24

/** `version` is the text of `process.versions.node`. */
export function isSupported(version) {
  const [major, minor] = version.split('.').map(Number)
  return supportedLines.some(([line, lowest]) => line === major && minor >= lowest)
}

/** One line for whoever runs another version. */
export function unsupportedText(version) {
  const lines = supportedLines.map(([major, minor]) =>
    minor === 0 ? `${major}` : `${major} (${major}.${minor} or later)`,
  )
  const list = `${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`
  return `Tollgate runs on Node.js ${list}; this is ${version}. Install Node.js ${recommendedMajor} and try again.`
}
