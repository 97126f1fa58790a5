import type { CorpusAnswer, Exchange } from './exchange.ts'

/*
 * Later versions may add to an interface. These are the only answers that may differ, and only by additions or by texts that people
 * read.
 */

/** Returns whether the answer differs from the recorded one only by what later versions add on purpose. */
export function isIntended({ request, answer: recorded }: Exchange, answer: CorpusAnswer): boolean {
  if (recorded.status !== answer.status) return false
  if (request.path.startsWith('/v1/sdk/webhooks/event-types')) {
    return hasAll(typesIn(recorded.body), typesIn(answer.body))
  }
  return (
    withoutOptions(recorded.body) === withoutOptions(answer.body) &&
    hasAll(optionsIn(recorded.body), optionsIn(answer.body))
  )
}

function hasAll(recorded: readonly string[], present: readonly string[]): boolean {
  return recorded.every((each) => present.includes(each))
}

/** The names of event types. Their descriptions may change, and types may be added. */
function typesIn(body: string): string[] {
  return [...body.matchAll(/"type":"([^"]+)"/g)].map(([, type]) => type!)
}

/** The choices that the refusal of a value lists, as a sentence and as a type. A field may get further choices. */
const sentence = /Invalid option: expected one of ((?:\\"[^"\\]*\\"\|?)+)/g
const type = /"expected":"('[^']*'(?: \| '[^']*')*)"/g

function withoutOptions(body: string): string {
  return body.replace(sentence, '').replace(type, '')
}

function optionsIn(body: string): string[] {
  const lists = [...body.matchAll(sentence), ...body.matchAll(type)].map(([, list]) => list!)
  return lists.flatMap((list) => list.split(/ ?\| ?/))
}
