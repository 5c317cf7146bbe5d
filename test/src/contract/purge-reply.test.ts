import { describe, expect, it } from 'vitest';
import { purgeReplySchema } from '../../../src/contract/purge-reply.js';

describe('purgeReplySchema', () => {
  it('reads what there is', () => {
    expect(purgeReplySchema.parse({ removed: 2, status: 'completed' })).toEqual({
      removed: 2,
      status: 'completed',
    });
    expect(purgeReplySchema.parse({ removed: 'many', status: 1 }).removed).toBeUndefined();
  });
});
