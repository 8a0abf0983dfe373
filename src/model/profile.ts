/** An influencer's public profile. No name and no address: the handle says who it is. */
export type Profile = {
  readonly platform: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly followers: number | null;
  readonly isVerified: boolean | null;
  readonly profileUrl: string | null;
  readonly pictureUrl: string | null;
};
