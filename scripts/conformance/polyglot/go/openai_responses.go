package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// openaiResponses is openai-go with responses.
type openaiResponses struct{}

func (openaiResponses) name() string         { return "openai-go" }
func (openaiResponses) module() string       { return "github.com/openai/openai-go/v3" }
func (openaiResponses) api() string          { return "responses" }
func (openaiResponses) status(err error) int { return openaiStatus(err) }

func responseParams(at target) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: at.model,
		Store: openai.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{
			OfInputItemList: []responses.ResponseInputItemUnionParam{
				responses.ResponseInputItemParamOfMessage(question, responses.EasyInputMessageRoleUser),
			},
		},
	}
}

func (openaiResponses) create(ctx context.Context, at target) (string, error) {
	return respondText(ctx, at, responseParams(at))
}

func (openaiResponses) extract(ctx context.Context, at target) (string, error) {
	params := responseParams(at)
	params.Text = responses.ResponseTextConfigParam{
		Format: responses.ResponseFormatTextConfigUnionParam{
			OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{
				Name:   "city",
				Schema: citySchema,
				Strict: openai.Bool(true),
			},
		},
	}
	return respondText(ctx, at, params)
}

func respondText(
	ctx context.Context, at target, params responses.ResponseNewParams,
) (string, error) {
	client := connectOpenai(at)
	response, err := client.Responses.New(ctx, params)
	if err != nil {
		return "", err
	}
	return response.OutputText(), nil
}

func (openaiResponses) stream(ctx context.Context, at target) (streamed, error) {
	response, err := collect(ctx, at, responseParams(at))
	if err != nil {
		return streamed{}, err
	}
	return streamed{response.OutputText(), string(response.Status)}, nil
}

// collect returns the response of the last event, which the deltas must agree with.
func collect(
	ctx context.Context, at target, params responses.ResponseNewParams,
) (responses.Response, error) {
	client := connectOpenai(at)
	stream := client.Responses.NewStreaming(ctx, params)
	var response responses.Response
	text := ""
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.output_text.delta":
			text += event.Delta
		case "response.completed", "response.incomplete", "response.failed":
			response = event.Response
		}
	}
	if err := stream.Err(); err != nil {
		return response, err
	}
	if response.OutputText() != text {
		return response, errors.New("the deltas differ from the response")
	}
	return response, nil
}

func (openaiResponses) useTool(ctx context.Context, at target) (string, error) {
	client := connectOpenai(at)
	return finishResponse(at, func(params responses.ResponseNewParams) (responses.Response, error) {
		response, err := client.Responses.New(ctx, params)
		if err != nil {
			return responses.Response{}, err
		}
		return *response, nil
	})
}

func (openaiResponses) streamTool(ctx context.Context, at target) (string, error) {
	return finishResponse(at, func(params responses.ResponseNewParams) (responses.Response, error) {
		return collect(ctx, at, params)
	})
}

func finishResponse(
	at target, turn func(responses.ResponseNewParams) (responses.Response, error),
) (string, error) {
	params := responseParams(at)
	params.Tools = []responses.ToolUnionParam{{
		OfFunction: &responses.FunctionToolParam{
			Name:        "get_weather",
			Description: openai.String("Returns the weather of a city."),
			Parameters:  weatherSchema,
			Strict:      openai.Bool(true),
		},
	}}
	response, err := turn(params)
	if err != nil {
		return "", err
	}
	items, err := answerCalls(response)
	if err != nil {
		return "", err
	}
	params.Input.OfInputItemList = append(params.Input.OfInputItemList, items...)
	response, err = turn(params)
	if err != nil {
		return "", err
	}
	return response.OutputText(), nil
}

// answerCalls returns the items of a response, and the result of its only call.
func answerCalls(response responses.Response) ([]responses.ResponseInputItemUnionParam, error) {
	var items, results []responses.ResponseInputItemUnionParam
	for _, item := range response.Output {
		switch item.Type {
		case "reasoning":
			past := item.AsReasoning().ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &past})
		case "message":
			past := item.AsMessage().ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfOutputMessage: &past})
		case "function_call":
			call := item.AsFunctionCall()
			past := call.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCall: &past})
			output, err := getWeather(call.Arguments)
			if err != nil {
				return nil, err
			}
			result := responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String(call.CallID),
				Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{
					OfString: openai.String(output),
				},
			}
			results = append(results, responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &result})
		}
	}
	if len(results) != 1 {
		return nil, fmt.Errorf("%d calls", len(results))
	}
	return append(items, results...), nil
}
