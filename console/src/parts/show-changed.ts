import { notifications } from '@mantine/notifications'

/** A notice disappears after this time, or when its button is pressed. */
export const notice = { autoClose: 5_000, closeButtonProps: { 'aria-label': 'Hide this notice' } }

/** Says that a change was made. Only the response of the API shows that it was. */
export function showChanged(message: string): void {
  notifications.show({ ...notice, message, color: 'teal' })
}
