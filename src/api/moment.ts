// Moments as Kubernetes writes them.

// In Leases and Events. Its parser wants six digits of a second, no fewer.
export function microTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z')
}

// In metadata and conditions: in whole seconds.
export function timeOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`
}
