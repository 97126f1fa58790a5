import { endOfString } from './ambiguity.ts'
import type { MessageId } from './messages.ts'

/** Returns the text of a message with another id. All else stays as it came, such as numbers that have more digits than ours. */
export function withId(text: string, id: MessageId): string {
  const pieces: string[] = []
  let copied = 0
  let depth = 0
  let name = ''
  for (let at = 0; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"': {
        const end = endOfString(text, at)
        if (depth === 1) name = text.slice(at, end)
        at = end - 1
        break
      }
      case '{':
      case '[':
        depth += 1
        break
      case '}':
      case ']':
        depth -= 1
        break
      case ':': {
        if (depth !== 1 || JSON.parse(name) !== 'id') break
        pieces.push(text.slice(copied, at + 1), JSON.stringify(id))
        copied = endOfId(text, at + 1)
        at = copied - 1
      }
    }
  }
  return pieces.join('') + text.slice(copied)
}

/** Returns the place behind the string or number that begins at `start`, or after white space. */
function endOfId(text: string, start: number): number {
  let at = start
  while (' \t\r\n'.includes(text.charAt(at))) at++
  if (text.charAt(at) === '"') return endOfString(text, at)
  while (!' \t\r\n,}'.includes(text.charAt(at))) at++
  return at
}
