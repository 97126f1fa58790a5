import type { z } from 'zod'
import type { World } from '../store/world.ts'
import type { Answer } from '../answer.ts'
import { readParameters, type Form } from './read-parameters.ts'

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `:id` stands for one segment. */
  readonly path: string
  /** Who only has the publishable key may ask too, with the client secret of the object. */
  readonly isForBrowsers: boolean
  readonly answer: (world: World, id: string, form: Form) => Answer
}

type Options = { readonly isForBrowsers?: true }

/** One operation: its parameters are read before it sees anything. */
export function route<Parameters>(
  method: Route['method'],
  path: string,
  schema: z.ZodType<Parameters>,
  answer: (world: World, parameters: Parameters, id: string) => Answer,
  { isForBrowsers }: Options = {},
): Route {
  return {
    method,
    path,
    isForBrowsers: isForBrowsers === true,
    answer: (world, id, form) => answer(world, readParameters(schema, form), id),
  }
}
