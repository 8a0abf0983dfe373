// Written by `npm run openapi` from the contract in src/service/contract/; do not edit it.
import type { Call } from '../create-api.ts';

/** Every operation of the service, grouped as its specification groups them. */
export type Operations = {
  /** Tests whether a request arrives, and to which account its key belongs. */
  readonly test: {
    /**
     * Confirms that a request was received and points to the authenticated test endpoint. Endpoints, Test
     * endpoints.
     *
     * GET /v1/public/hello. May be repeated.
     *
     * @throws ApiError
     */
    readonly publicHello: Call<'public_hello'>;
    /**
     * Returns the account and the user to which the key belongs. Endpoints, Test endpoints; Authentication,
     * 3.
     *
     * GET /v1/account/hello. May be repeated.
     *
     * @throws ApiError
     */
    readonly accountHello: Call<'account_hello'>;
  };
  /** Finds influencers, and the handles, tags and places to search by. Costs credits. */
  readonly search: {
    /**
     * Finds influencers, 10 per request. Endpoints, Search and reports.
     *
     * POST /v1/search/get_search. Must not be repeated. Costs 1 search credit for each new influencer seen.
     *
     * @throws ApiError
     */
    readonly getSearch: Call<'get_search'>;
    /**
     * Looks up handles and tags. Endpoints, Search and reports.
     *
     * GET /v1/search/database_influencers. May be repeated.
     *
     * @throws ApiError
     */
    readonly databaseInfluencers: Call<'database_influencers'>;
    /**
     * Looks up location ids for the filters geo and audience_geo. Endpoints, Search and reports.
     *
     * GET /v1/search/locations. May be repeated.
     *
     * @throws ApiError
     */
    readonly locations: Call<'locations'>;
    /**
     * Returns the analytics report of one influencer and generates the report if there is none. Endpoints,
     * Search and reports; Limits.
     *
     * GET /v1/search/get_analytics_page. Must not be repeated. Costs none if the report exists; 1 report
     * credit when a new one is generated.
     *
     * @throws ApiError
     */
    readonly getAnalyticsPage: Call<'get_analytics_page'>;
  };
  /** Finds out which contacts are influencers. */
  readonly identify: {
    /**
     * Queues contacts. Those who are influencers appear after some minutes, or at the latest after an hour.
     * Endpoints, Identify influencers; Limits.
     *
     * POST /v1/search/identify_influencers. May be repeated.
     *
     * @throws ApiError
     */
    readonly identifyInfluencers: Call<'identify_influencers'>;
    /**
     * Identifies one influencer by e-mail address, and answers at once. Which query members are required: not
     * shown. Endpoints, Identify influencers.
     *
     * GET /v1/search/identify_influencers_real_time. May be repeated.
     *
     * @throws ApiError
     */
    readonly identifyInfluencersRealTime: Call<'identify_influencers_real_time'>;
  };
  /** Brings influencers into the CRM or into an outreach campaign. */
  readonly import: {
    /**
     * Creates a deal page in a dealflow, without outreach. Endpoints, Import influencers; States and
     * transitions.
     *
     * POST /v1/crm/create_deal. Must not be repeated.
     *
     * @throws ApiError
     */
    readonly createDeal: Call<'create_deal'>;
    /**
     * Adds influencers to an outreach campaign, which may send mail to them. Endpoints, Import influencers;
     * Limits.
     *
     * POST /v1/search/submit_influencers. Must not be repeated. Costs 0.04 search credits for each influencer
     * added; duplicates are skipped.
     *
     * @throws ApiError
     */
    readonly submitInfluencers: Call<'submit_influencers'>;
  };
  /** One deal: its data, notes, tasks, stage and capture of posts. */
  readonly influencerPage: {
    /**
     * Reads one deal by its id, its address or its influencer. Endpoints, Influencer page (CRM); Resources.
     *
     * GET /v1/crm/get_deal_details. May be repeated.
     *
     * @throws ApiError
     */
    readonly getDealDetails: Call<'get_deal_details'>;
    /**
     * Adds a note to a deal. Endpoints, Influencer page (CRM).
     *
     * POST /v1/crm/create_note. Must not be repeated.
     *
     * @throws ApiError
     */
    readonly createNote: Call<'create_note'>;
    /**
     * Adds a task to a deal. Endpoints, Influencer page (CRM); Limits.
     *
     * POST /v1/crm/create_task. Must not be repeated.
     *
     * @throws ApiError
     */
    readonly createTask: Call<'create_task'>;
    /**
     * Moves a deal to another stage or dealflow. Endpoints, Influencer page (CRM); States and transitions.
     *
     * POST /v1/crm/update_dealstage. May be repeated.
     *
     * @throws ApiError
     */
    readonly updateDealstage: Call<'update_dealstage'>;
    /**
     * Changes contact and profile information of a deal, or only its active status. Endpoints, Influencer
     * page (CRM); States and transitions.
     *
     * POST /v1/crm/update_deal_info. May be repeated.
     *
     * @throws ApiError
     */
    readonly updateDealInfo: Call<'update_deal_info'>;
    /**
     * Turns the capture of posts on or off for a collaboration. Endpoints, Influencer page (CRM); States and
     * transitions.
     *
     * POST /v1/crm/update_post_capture. May be repeated.
     *
     * @throws ApiError
     */
    readonly updatePostCapture: Call<'update_post_capture'>;
  };
  /** Clicks and orders, from a server. Never repeat these. */
  readonly affiliateTracking: {
    /**
     * Adds to the tracked clicks of a deal. The overview names it /v1/crm/increase_influencer_clicks.
     * Endpoints, Affiliate tracking.
     *
     * POST /v1/crm/new_influencer_click. Must not be repeated.
     *
     * @throws ApiError
     */
    readonly newInfluencerClick: Call<'new_influencer_click'>;
    /**
     * Adds an order to a collaboration's affiliate performance. Endpoints, Affiliate tracking.
     *
     * POST /v1/crm/new_influencer_referral. Must not be repeated.
     *
     * @throws ApiError
     */
    readonly newInfluencerReferral: Call<'new_influencer_referral'>;
  };
  /** Lists the brands, dealflows and deals of the account. */
  readonly accountSearch: {
    /**
     * Lists all dealflows of the account. Endpoints, Account search.
     *
     * GET /v1/account/search_dealflows. May be repeated.
     *
     * @throws ApiError
     */
    readonly searchDealflows: Call<'search_dealflows'>;
    /**
     * Lists the brands of the account. Endpoints, Account search.
     *
     * GET /v1/account/search_brands. May be repeated.
     *
     * @throws ApiError
     */
    readonly searchBrands: Call<'search_brands'>;
    /**
     * Finds deals by the name or handle of their influencer. Endpoints, Account search.
     *
     * GET /v1/crm/autocomplete. May be repeated.
     *
     * @throws ApiError
     */
    readonly autocomplete: Call<'autocomplete'>;
  };
  /** Where the service sends its events. */
  readonly webhooks: {
    /**
     * Registers an address for one kind of event. Endpoints, Webhook management; Events.
     *
     * POST /v1/account/create_webhook. May be repeated.
     *
     * @throws ApiError
     */
    readonly createWebhook: Call<'create_webhook'>;
    /**
     * Lists the registered addresses. Endpoints, Webhook management.
     *
     * GET /v1/account/get_webhooks. May be repeated.
     *
     * @throws ApiError
     */
    readonly getWebhooks: Call<'get_webhooks'>;
    /**
     * Removes a registration. The service refuses an unknown registration with 400, not 404. Endpoints,
     * Webhook management.
     *
     * DELETE /v1/account/delete_webhook. May be repeated.
     *
     * @throws ApiError
     */
    readonly deleteWebhook: Call<'delete_webhook'>;
  };
};
