import type { ValidationIssue } from '@tollgate/schemas/http/errors'

/** Returns a fault of one field of a request. */
export function fieldFault(path: ValidationIssue['path'], message: string): ValidationIssue {
  return { code: 'custom', path, message }
}
