import type { AddOnObstacle } from '@tollgate/domain/purchases/decide-add-ons'
import { refusal } from './refusal.ts'

/** The refusals of requests about add-ons. */
export const addOnRefusals = {
  addOnNotFound: (reference: string) =>
    refusal('add_on_not_found', `Add-on ${reference} not found`),
  addOnNotChangeable: (reference: string, obstacle: AddOnObstacle) =>
    refusal('add_on_not_changeable', `Add-on ${reference} cannot be changed: ${obstacle}`),
}
