import type { z } from 'zod'
import type { UnitOfWork } from '../store/unit-of-work.ts'
import type { Answer } from '../answer.ts'
import { readParameters, type Form } from './read-parameters.ts'

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path of the operation. `:id` matches one segment. */
  readonly path: string
  /** Whether a caller with only the publishable key may use it, with the client secret of the object. */
  readonly isForBrowsers: boolean
  readonly answer: (work: UnitOfWork, id: string, form: Form) => Answer
}

type Options = { readonly isForBrowsers?: true }

/** Returns one operation. Its parameters are validated before `answer` is called. */
export function route<Parameters>(
  method: Route['method'],
  path: string,
  schema: z.ZodType<Parameters>,
  answer: (work: UnitOfWork, parameters: Parameters, id: string) => Answer,
  { isForBrowsers }: Options = {},
): Route {
  return {
    method,
    path,
    isForBrowsers: isForBrowsers === true,
    answer: (work, id, form) => answer(work, readParameters(schema, form), id),
  }
}
