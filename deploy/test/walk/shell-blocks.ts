import { readFileSync } from 'node:fs'

/** Returns the fenced blocks of one language below a heading of a page, including subheadings, in order. */
export function blocksUnder(path: string, heading: string, language: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  const from = lines.findIndex((line) => isHeading(line) && line.replace(/^#+ /, '') === heading)
  if (from === -1) throw new Error(`${path} has no heading “${heading}”`)
  const depth = depthOf(lines[from]!)
  const blocks: string[] = []
  let block: string[] | undefined
  let isWanted = false
  for (const line of lines.slice(from + 1)) {
    if (block === undefined && isHeading(line) && depthOf(line) <= depth) break
    if (!line.startsWith('```')) {
      block?.push(line)
    } else if (block === undefined) {
      block = []
      isWanted = line === `\`\`\`${language}`
    } else {
      if (isWanted) blocks.push(block.join('\n'))
      block = undefined
    }
  }
  return blocks
}

function isHeading(line: string): boolean {
  return /^#+ /.test(line)
}

function depthOf(line: string): number {
  return line.indexOf(' ')
}
