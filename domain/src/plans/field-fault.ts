import type { ValidationIssue } from '@tollgate/schemas/http/errors'

/** Returns a fault of one field of a request. */
export function fieldFault(path: ValidationIssue['path'], message: string): ValidationIssue {
  return { code: 'custom', path, message }
}

/** Returns the faults of a part of a request, with the path of the part before their own paths. */
export function faultsUnder(
  path: ValidationIssue['path'],
  faults: readonly ValidationIssue[],
): ValidationIssue[] {
  return faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] }))
}
