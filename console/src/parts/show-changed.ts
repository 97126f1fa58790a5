import { notifications } from '@mantine/notifications'

/** A notice disappears after this time, or when its button is pressed. */
export const notice = { autoClose: 5_000, closeButtonProps: { 'aria-label': 'Hide this notice' } }

/** Shows that a change was made. Call it only after a successful response of the API. */
export function showChanged(message: string): void {
  notifications.show({ ...notice, message, color: 'teal' })
}
