/** A row of a manifest as a person writes it: an edit whose prompt is its id. */
export const edit = (id: string, more: object = {}) => ({
  id,
  endpoint: 'image-edit',
  images: ['http://example.test/a.png'],
  prompt: id,
  ...more,
});

/** A job on `echo` that carries its id. */
export const job = (id: string, more: object = {}) => ({ id, endpoint: 'echo', input: { row: id }, ...more });
